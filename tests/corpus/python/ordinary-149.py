import os
for r, ds, fs in os.walk("."):
    for f in fs:
        p = os.path.join(r, f)
        print(os.path.getsize(p), p)
os.makedirs("a/b", exist_ok=True)
os.remove("a/b") if os.path.isfile("a/b") else None
