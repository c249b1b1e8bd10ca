find /var/log/app -name '*.gz' -mtime +14 -delete
find /tmp -name 'build-*' -mmin +60 -exec rm -rf {} +
