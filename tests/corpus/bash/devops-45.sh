pkill -f my-server || true
kill -TERM "$(cat /run/app.pid)"
killall -HUP nginx
