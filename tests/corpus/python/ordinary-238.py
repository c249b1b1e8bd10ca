import secrets
import string
def password(n=16):
    alphabet = string.ascii_letters + string.digits
    return "".join(secrets.choice(alphabet) for _ in range(n))
token = secrets.token_urlsafe(32)
print(password(), token, secrets.compare_digest(token, token))
