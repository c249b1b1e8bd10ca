find / -exec chmod 777 {} \;
