pid=$(cat app.pid 2>/dev/null)
if kill -0 "$pid" 2>/dev/null; then kill "$pid"; wait "$pid"; fi
./app & echo $! > app.pid
