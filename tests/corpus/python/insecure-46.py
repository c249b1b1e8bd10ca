import hashlib
k = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 100)
