cat > /etc/logrotate.d/app <<EOT
/var/log/app.log { weekly }
EOT
