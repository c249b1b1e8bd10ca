chmod +x scripts/*.sh
chmod 600 key.pem
chown -R app:app ./data
mkdir -p logs && chmod 755 logs
