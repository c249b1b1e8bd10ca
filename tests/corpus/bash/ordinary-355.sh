if ! command -v node >/dev/null 2>&1; then
  echo "node is missing" >&2
  exit 1
fi
