from Crypto.Cipher import AES
AES.new(key, AES.MODE_ECB).encrypt(data)
