retry() {
  local n=$1; shift
  for ((i = 1; i <= n; i++)); do
    "$@" && return 0
    echo "attempt $i failed" >&2
    sleep $((i * 2))
  done
  return 1
}
retry 3 curl -fsS https://example.org/health
