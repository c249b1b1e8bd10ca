python3 -m json.tool data.json
