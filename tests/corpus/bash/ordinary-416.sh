df -h / | tail -1 | awk '{print $5}' | tr -d %
free -m; uptime; du -sh /var/log/* 2>/dev/null | sort -h | tail -5
