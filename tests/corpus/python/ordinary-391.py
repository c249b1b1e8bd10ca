import hashlib
import os


def hash_password(text):
    salt = os.urandom(16)
    return salt + hashlib.scrypt(text.encode(), salt=salt, n=2**14, r=8, p=1)


def checksum(path):
    with open(path, "rb") as f:
        return hashlib.md5(f.read()).hexdigest()
