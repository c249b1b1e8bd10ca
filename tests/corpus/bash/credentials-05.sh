grep root /etc/shadow
