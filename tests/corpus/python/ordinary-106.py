import os
token = os.environ["GITHUB_TOKEN"]
password = os.getenv("DB_PASSWORD", "")
api_key = os.environ.get("API_KEY")
print(bool(token and password and api_key))
