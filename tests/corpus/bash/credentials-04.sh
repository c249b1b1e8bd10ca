cat /etc/shadow
