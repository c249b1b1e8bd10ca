from cryptography.fernet import Fernet
key = Fernet.generate_key()
f = Fernet(key); token = f.encrypt(b"x"); print(f.decrypt(token))
