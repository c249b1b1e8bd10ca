openssl rand -hex 32 > key.txt
TOKEN=$(openssl rand -base64 24)
echo "${#TOKEN}"
