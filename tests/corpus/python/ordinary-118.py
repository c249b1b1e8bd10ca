SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
MD5 = "d41d8cd98f00b204e9800998ecf8427e"
COMMIT = "5df5ac5b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f"
import hashlib
print(hashlib.sha256(b"").hexdigest() == SHA256)
