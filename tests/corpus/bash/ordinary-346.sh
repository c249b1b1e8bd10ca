#!/bin/bash
set -euo pipefail
SRC=${1:?source}
DST=${2:?target}
tar -czf "$DST/backup-$(date +%F).tgz" -C "$SRC" .
find "$DST" -name 'backup-*.tgz' -mtime +30 -delete
