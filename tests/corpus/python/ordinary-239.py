import datetime
import os
import jwt
key = os.environ["JWT_KEY"]
t = jwt.encode({"sub": "1", "exp": datetime.datetime.utcnow()}, key, algorithm="HS256")
print(jwt.decode(t, key, algorithms=["HS256"]))
