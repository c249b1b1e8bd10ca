cat > .env.example <<'X'
API_KEY=
SECRET_KEY=changeme
DATABASE_URL=postgres://user:password@localhost:5432/db
X
