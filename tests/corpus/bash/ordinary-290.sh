ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519 -N ''
