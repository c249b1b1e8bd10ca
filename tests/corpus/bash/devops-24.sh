curl -s https://api.example.org/x | python3 -m json.tool
