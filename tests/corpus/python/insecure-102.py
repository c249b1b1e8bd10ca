import hashlib


def stretch(word):
    return hashlib.pbkdf2_hmac("sha256", word, b"always the same", 600000)
