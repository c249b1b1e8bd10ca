mv /etc/passwd /tmp
