from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
Cipher(algorithms.ARC4(key), mode=None).encryptor()
