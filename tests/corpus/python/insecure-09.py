import jwt
claims = jwt.decode(token, options={"verify_signature": False})
