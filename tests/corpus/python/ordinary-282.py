import secrets
from urllib.parse import urlencode
CLIENT_ID = "my-app"
REDIRECT_URI = "http://localhost:8000/callback"
TOKEN_ENDPOINT = "https://auth.example.org/oauth2/token"
def auth_url():
    state = secrets.token_urlsafe(16)
    return "https://auth.example.org/authorize?" + urlencode({"client_id": CLIENT_ID, "state": state, "response_type": "code"})
def exchange(code, client_secret):
    return {"grant_type": "authorization_code", "code": code, "client_secret": client_secret}
