export PGPASSWORD="${DB_PASS:?set DB_PASS}"
pg_dump -h "$DB_HOST" -U app app | gzip > "app-$(date +%F).sql.gz"
mysqldump -u root -p"$MYSQL_ROOT_PASSWORD" app > app.sql
