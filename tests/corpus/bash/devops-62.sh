timeout 2 bash -c ": < /dev/tcp/$HOST/$PORT" 2>/dev/null || exit 1
