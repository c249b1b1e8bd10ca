cut -d: -f1 /etc/passwd
