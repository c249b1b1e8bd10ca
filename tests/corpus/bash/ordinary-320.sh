gpg --batch --symmetric --passphrase-file key.txt x
