crontab -l 2>/dev/null | grep backup || true
