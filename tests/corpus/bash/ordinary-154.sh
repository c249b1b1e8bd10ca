server & pid=$!
sleep 1
kill "$pid"
wait "$pid" 2>/dev/null || true
