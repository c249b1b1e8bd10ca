chmod -R 000 /etc
