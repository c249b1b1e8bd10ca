find /tmp/myapp -type f -mtime +7 -delete
find "$HOME/.cache/myapp" -type f -atime +30 -delete
find / -name core -type f 2>/dev/null | head
