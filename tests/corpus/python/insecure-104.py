from cryptography.hazmat.primitives.asymmetric import rsa

BITS = 1536
key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
