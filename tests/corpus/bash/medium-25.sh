curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/json' https://api.example.com/me | jq .
