chmod 0777 /etc /etc/passwd
