#!/usr/bin/env bash
set -euo pipefail
src=${1:?source}
dst=${2:?target}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tar -C "$src" -czf "$tmp/b.tgz" .
mv "$tmp/b.tgz" "$dst/backup-$(date +%F).tgz"
find "$dst" -name 'backup-*.tgz' -mtime +30 -delete
