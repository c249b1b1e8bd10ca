set -euo pipefail
BACKUP_DIR=${BACKUP_DIR:-/var/backups/app}
mkdir -p "$BACKUP_DIR"
tar -czf "$BACKUP_DIR/app-$(date +%F).tar.gz" -C /srv app
find "$BACKUP_DIR" -name '*.tar.gz' -mtime +14 -delete
