import os
from cryptography.fernet import Fernet

box = Fernet(os.environ["BOX_KEY"])
print(box.encrypt(b"text"))
