set -a
[ -f .env ] && . ./.env
set +a
: "${DB_PASSWORD:=}"
export SECRET_NAME=app/prod
export TOKEN_FILE=/run/secrets/token
echo "token file: $TOKEN_FILE"
