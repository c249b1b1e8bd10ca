cp $HOME/.ssh/id_ed25519 /tmp
