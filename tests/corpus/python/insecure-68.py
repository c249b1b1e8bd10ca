import jwt
jwt.decode(tok, key, algorithms=['none'])
