: "${API_TOKEN:?set API_TOKEN}"
TOKEN=${TOKEN:-}
export GITHUB_TOKEN="$INPUT_TOKEN"
PASSWORD="$(cat /run/secrets/pw)"
