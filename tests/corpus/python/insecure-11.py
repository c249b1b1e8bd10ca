import hashlib
def store(user, password):
    db[user] = hashlib.md5(password.encode()).hexdigest()
