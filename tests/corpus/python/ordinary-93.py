import codecs
print(codecs.encode("hello", "rot13"), "68656c6c6f", bytes.fromhex("68656c6c6f"))
