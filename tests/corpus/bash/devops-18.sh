#!/bin/bash
sudo tee /etc/nginx/sites-available/app >/dev/null <<'EOT'
server { listen 80; location / { proxy_pass http://127.0.0.1:8000; } }
EOT
sudo ln -sf /etc/nginx/sites-available/app /etc/nginx/sites-enabled/app
sudo nginx -t && sudo systemctl reload nginx
