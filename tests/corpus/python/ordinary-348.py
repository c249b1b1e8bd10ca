import base64, json
data = json.loads(base64.b64decode(s))
print(data['name'])
