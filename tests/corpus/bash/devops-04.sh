: "${API_TOKEN:?set it}"
curl -H "Authorization: Bearer $API_TOKEN" -X POST -d @payload.json https://api.example.org/v1/items
