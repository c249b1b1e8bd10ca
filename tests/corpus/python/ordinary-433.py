import struct, zlib, base64
d = base64.b64encode(zlib.compress(b"hello" * 10))
print(struct.unpack("<I", d[:4]), zlib.decompress(base64.b64decode(d)))
