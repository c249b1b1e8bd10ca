import bcrypt
h = bcrypt.hashpw(b"correct horse", bcrypt.gensalt())
