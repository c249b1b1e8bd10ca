sqlite3 app.db "select count(*) from users where password is null;"
psql "$DATABASE_URL" -f schema.sql
