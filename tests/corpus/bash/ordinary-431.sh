base64 -d image.b64 > image.png; echo hello | base64
echo "$CERT" | base64 -d > cert.pem
