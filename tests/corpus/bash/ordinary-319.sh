openssl enc -aes-256-cbc -pbkdf2 -in x -out x.enc -pass env:PASS
