tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo x > "$tmp/file"
