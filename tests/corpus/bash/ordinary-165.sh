openssl rand -hex 32 > key
openssl dgst -sha256 file
openssl x509 -in cert.pem -noout -dates
