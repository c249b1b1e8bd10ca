from cryptography.hazmat.primitives.asymmetric import ec
k = ec.generate_private_key(ec.SECP192R1())
