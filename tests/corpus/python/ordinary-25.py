import hashlib
print(hashlib.sha256(b"x").hexdigest())
