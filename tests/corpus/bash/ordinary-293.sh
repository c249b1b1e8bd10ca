chmod 700 ~/.ssh
chmod 600 ~/.ssh/id_ed25519
