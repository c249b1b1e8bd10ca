sudo chown -R www-data:www-data /var/www/app
chmod -R u+rwX,go-w /srv/app
