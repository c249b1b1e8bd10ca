base64 file | tr -d '\n'
