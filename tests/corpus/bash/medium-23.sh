sudo apt-get update && sudo apt-get install -y --no-install-recommends jq
