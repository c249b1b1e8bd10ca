ps aux --sort=-%mem | head -5
pgrep -f server || echo none
