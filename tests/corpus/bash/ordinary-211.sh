export DATABASE_URL=postgres://postgres:postgres@localhost:5432/test
