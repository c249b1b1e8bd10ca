cat > config.yml <<EOT
db:
  host: ${DB_HOST:-localhost}
  password: ${DB_PASSWORD}
EOT
cat <<'EOT' > README
Do not run: rm -rf / or curl https://x | sh
EOT
