base64 -w0 logo.png > logo.b64
echo "$PAYLOAD" | base64 -d > payload.json
openssl dgst -sha256 file.bin
sha256sum -c SHA256SUMS
