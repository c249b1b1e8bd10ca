from cryptography.hazmat.primitives import hashes
d = hashes.Hash(hashes.MD5())
