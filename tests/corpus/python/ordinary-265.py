import os
import redis
r = redis.Redis(host="localhost", password=os.environ.get("REDIS_PASSWORD"))
r.set("k", "v")
print(r.eval("return 1", 0))
