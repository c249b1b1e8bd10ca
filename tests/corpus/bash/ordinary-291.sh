ssh-copy-id -i ~/.ssh/id_ed25519.pub user@example.org
