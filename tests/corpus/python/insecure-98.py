import hashlib

digest = hashlib.new("sha1")
digest.update(password.encode())
print(digest.hexdigest())
