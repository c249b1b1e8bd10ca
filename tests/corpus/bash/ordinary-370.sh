log() { printf '%(%F %T)T %s\n' -1 "$*" >&2; }
log started
sleep 1 & pid=$!
wait "$pid"
