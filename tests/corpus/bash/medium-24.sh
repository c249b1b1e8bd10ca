curl -fsSL "https://api.example.com/v1/items?page=1" -o items.json
jq length items.json
