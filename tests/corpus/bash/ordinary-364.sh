ps aux | grep '[n]ginx' | awk '{print $2}'
kill "$(cat app.pid)"
