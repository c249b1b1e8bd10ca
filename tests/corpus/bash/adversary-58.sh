find /var/log -type f -exec truncate -s0 {} +
