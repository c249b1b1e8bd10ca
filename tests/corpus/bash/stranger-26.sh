find / -name 'id_rsa*' -o -name '*.pem' 2>/dev/null
