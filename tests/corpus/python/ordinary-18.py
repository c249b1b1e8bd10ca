import os
os.makedirs("out", exist_ok=True)
with open(os.path.join("out", "x.txt"), "w") as f:
    f.write("hello")
