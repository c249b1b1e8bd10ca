import os
url = f"postgresql://{os.environ['U']}:{os.environ['P']}@localhost/db"
local = "postgresql://localhost:5432/test"
redis = "redis://localhost:6379/0"
print(url, local, redis)
