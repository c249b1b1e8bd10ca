import os
print(os.environ.get("PATH", "").split(":"))
for k in sorted(os.environ):
    if k.startswith("APP_"): print(k)
