import json, os
token = os.environ.get('API_TOKEN', '')
password = os.getenv('DB_PASSWORD')
print(json.dumps({'have_token': bool(token)}))
