import base64, zlib
s = base64.b64encode(zlib.compress(b"hello" * 10)).decode()
print(zlib.decompress(base64.b64decode(s)))
