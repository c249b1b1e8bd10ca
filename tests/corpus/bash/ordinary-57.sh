jq -r '.items[].name' data.json
