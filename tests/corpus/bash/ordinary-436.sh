tail -n 100 -f app.log | grep --line-buffered ERROR
journalctl -u app --since "1 hour ago" | tail -50
