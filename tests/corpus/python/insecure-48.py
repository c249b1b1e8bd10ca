import jwt
jwt.decode(tok, verify=False)
