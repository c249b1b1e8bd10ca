import hashlib
import hmac
def verify(secret: bytes, body: bytes, sig: str) -> bool:
    mac = hmac.new(secret, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest("sha256=" + mac, sig)
