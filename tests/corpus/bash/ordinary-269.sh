openssl req -x509 -newkey rsa:4096 -nodes -keyout key.pem -out cert.pem -days 365 -subj /CN=localhost
openssl x509 -in cert.pem -noout -enddate
chmod 600 key.pem
