find /var -xdev -type f -size +100M -printf '%s %p\n' 2>/dev/null | sort -nr | head
find ~/Downloads -type f -atime +90 -print
