[ -n "${DEBUG:-}" ] && set -x
