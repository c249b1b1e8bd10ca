kill -0 "$pid" 2>/dev/null
