df -h / | awk 'NR==2 {print $5}'
du -sh ~/* 2>/dev/null | sort -h | tail
u=$(df --output=pcent / | tail -1 | tr -dc 0-9)
[ "$u" -lt 90 ] || echo "disk almost full" >&2
