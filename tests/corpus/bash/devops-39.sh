cat > /etc/nginx/conf.d/app.conf <<EOT
server { listen 80; }
EOT
