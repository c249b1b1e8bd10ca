import re
rx = re.compile("x")
redis.eval("return 1", 0)
df.eval("a+b")
