base64 -d logo.b64 > logo.png
gunzip -c data.gz | head -n 5
