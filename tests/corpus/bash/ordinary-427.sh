ssh-keygen -t ed25519 -N '' -f ./key -C deploy
openssl req -x509 -newkey rsa:4096 -nodes -keyout k.pem -out c.pem -days 365 -subj /CN=localhost
openssl rand -base64 32 > secret.txt
