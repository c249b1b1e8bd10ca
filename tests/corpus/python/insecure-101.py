from Crypto.Cipher import AES

box = AES.new(b"sixteen byte key", AES.MODE_GCM)
print(box.encrypt(b"text"))
