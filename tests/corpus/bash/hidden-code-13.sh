/b?n/c?t /etc/hosts
