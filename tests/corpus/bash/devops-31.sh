ssh -i ~/.ssh/id_ed25519 deploy@example.org uptime
