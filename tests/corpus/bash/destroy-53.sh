unlink /etc/passwd
