chmod +x scripts/*.sh
chmod 600 ~/.config/app/token
chown -R www-data:www-data /var/www/site
