find /tmp -maxdepth 1 -name 'myapp-*' -mtime +1 -exec rm -rf {} +
rm -rf /tmp/myapp-cache /var/tmp/myapp
