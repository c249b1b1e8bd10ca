chmod +x deploy.sh; chmod 644 *.md; chmod -R u+rwX,go-w ./public; chown -R www-data: ./public
