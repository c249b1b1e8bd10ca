import hashlib


def hash_password(text):
    return hashlib.sha256(text.encode()).hexdigest()
