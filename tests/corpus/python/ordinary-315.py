import hashlib
print(hashlib.md5(b"x").hexdigest(), hashlib.sha1(b"y").hexdigest())
