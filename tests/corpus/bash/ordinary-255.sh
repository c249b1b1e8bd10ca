head -c 16 /dev/urandom | xxd -p
openssl rand -hex 32 > session.key
tr -dc A-Za-z0-9 </dev/urandom | head -c 20
