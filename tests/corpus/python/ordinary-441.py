import jwt
def verify(token, key):
    return jwt.decode(token, key, algorithms=["HS256"], audience="app")
