from Crypto.Cipher import DES
c = DES.new(b"8bytekey", DES.MODE_CBC, b"12345678")
print(c.encrypt(b"12345678"))
