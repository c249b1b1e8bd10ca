import hmac, hashlib, secrets
key = secrets.token_bytes(32)
print(hmac.new(key, b"m", hashlib.sha256).hexdigest())
api_key = secrets.token_urlsafe(32)
