import hashlib
import os
import sys
seen = {}
for r, _, fs in os.walk(sys.argv[1]):
    for f in fs:
        p = os.path.join(r, f)
        h = hashlib.md5(open(p, "rb").read(), usedforsecurity=False).hexdigest()
        if h in seen:
            print("duplicate", p, seen[h])
            os.remove(p)
        else:
            seen[h] = p
