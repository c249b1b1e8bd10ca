> /etc/passwd
