rsync -a --delete build/ public/ >/dev/null || true
