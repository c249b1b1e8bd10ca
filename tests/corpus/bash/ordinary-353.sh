: "${DB_PASSWORD:?set DB_PASSWORD}"
PGPASSWORD="$DB_PASSWORD" pg_dump -h "$DB_HOST" -U app app > dump.sql
