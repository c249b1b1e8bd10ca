cat > config.yml <<E
database:
  user: app
  password: ${DB_PASSWORD}
token: <your token>
E
