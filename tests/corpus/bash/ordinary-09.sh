rm -f /tmp/my.lock
