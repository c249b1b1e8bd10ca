import os
for f in os.listdir("out"):
    if f.endswith(".tmp"):
        os.remove(os.path.join("out", f))
