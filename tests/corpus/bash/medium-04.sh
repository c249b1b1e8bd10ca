systemctl restart nginx
