import os
total = 0
for r, ds, fs in os.walk("."):
    ds[:] = [d for d in ds if d != ".git"]
    for f in fs:
        p = os.path.join(r, f)
        if not os.path.islink(p):
            total += os.path.getsize(p)
print(total)
