import hashlib
password = input()
h = hashlib.new("sha1", password.encode()).hexdigest()
