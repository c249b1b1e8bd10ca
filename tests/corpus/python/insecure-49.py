import jwt
jwt.encode({"a": 1}, None, algorithm="none")
