mount --bind /tmp/x /etc/passwd
