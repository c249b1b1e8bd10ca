args=(-v --color=never)
[ -n "${DEBUG:-}" ] && args+=(--debug)
grep "${args[@]}" x file || true
cmd=(ls -l); "${cmd[@]}"
