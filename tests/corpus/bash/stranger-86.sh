chmod o+w /etc/passwd
