import secrets
token = secrets.token_urlsafe(32)
password = ''.join(secrets.choice('abc') for _ in range(12))
