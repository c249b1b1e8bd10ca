rm -f /var/log/auth.log
