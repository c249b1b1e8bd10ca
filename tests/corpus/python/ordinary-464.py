password_hash = "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"
def check(p, h): import bcrypt; return bcrypt.checkpw(p, h)
