sed -i '/198.51.100.7/d' /var/log/auth.log
