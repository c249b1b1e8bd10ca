from Crypto.Cipher import AES
c = AES.new(key, AES.MODE_CBC, b'0000000000000000')
