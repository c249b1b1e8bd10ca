: > /var/log/auth.log
