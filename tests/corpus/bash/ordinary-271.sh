journalctl -u app --since today -o cat | grep -oE '"path":"[^"]+"' | sort | uniq -c | sort -nr | head
awk '$9 ~ /^5/ {print $7}' /var/log/nginx/access.log | sort | uniq -c
