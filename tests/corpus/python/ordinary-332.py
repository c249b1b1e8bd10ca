import bcrypt
h = bcrypt.hashpw(input().encode(), bcrypt.gensalt())
stored_password_hash = "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"
