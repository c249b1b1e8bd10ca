SECRET_DIR=secrets
PASSWORD_FILE=/run/secrets/db_password
TOKEN=$(cat "$TOKEN_FILE")
API_KEY="${API_KEY:-}"
export PASSWORD="$1"
DB_PASS=$(pass show db)
passwd_hash=$(openssl passwd -6 "$PASSWORD")
