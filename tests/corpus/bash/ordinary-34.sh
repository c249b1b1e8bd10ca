kill "$pid"
