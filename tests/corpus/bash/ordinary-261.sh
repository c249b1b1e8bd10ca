#!/bin/bash
set -o pipefail
DIR=/var/backups/pg
mkdir -p "$DIR"
pg_dump -h "$PGHOST" -U "$PGUSER" app | gzip > "$DIR/app-$(date +%F).sql.gz" || exit 1
find "$DIR" -name 'app-*.sql.gz' -mtime +14 -delete
