chmod +x run.sh && chmod 600 key.txt && chmod -R u+rwX,go-w site
