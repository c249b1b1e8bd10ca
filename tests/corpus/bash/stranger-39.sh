cloudflared tunnel --url ssh://localhost:22
