cat <<EOF2 > config.yml
db:
  host: localhost
  password: ${DB_PASSWORD}
EOF2
chmod 600 config.yml
