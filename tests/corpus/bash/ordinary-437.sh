[ -f .env ] && set -a && . ./.env && set +a
source "$(dirname "$0")/lib.sh"
