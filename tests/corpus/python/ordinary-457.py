API_KEY = ""  # set me
TOKEN = None
SECRET = "REPLACE_ME"
PASSWORD = "********"
DATABASE_URL = "postgresql://user:pass@localhost:5432/app"
headers = {"Authorization": "Bearer <token>", "X-Api-Key": "{api_key}"}
