from Crypto.Cipher import AES


def seal(key, text):
    start = b"\0" * 16
    return AES.new(key, AES.MODE_CBC, start).encrypt(text)
