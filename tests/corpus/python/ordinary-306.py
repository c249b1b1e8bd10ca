USERS = [{"id": 1, "email": "a@example.org", "token_version": 3, "password_reset_sent": False},
         {"id": 2, "email": "b@example.org", "token_version": 1, "password_reset_sent": True}]
LABELS = dict(password="Password", api_key="API key", secret="Secret")
PLACEHOLDERS = {"password": "Enter password", "token": "Paste your token here", "api_key": "your-api-key"}
