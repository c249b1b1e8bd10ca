mysqldump --defaults-extra-file="$HOME/.my.cnf.backup" --single-transaction app | gzip > app.sql.gz
pg_dump -Fc app > app.dump
psql app -c 'VACUUM ANALYZE'
