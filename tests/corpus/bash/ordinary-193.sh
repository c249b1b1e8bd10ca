tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp *.txt "$tmp"/ 2>/dev/null || true
ls -l "$tmp"
