import struct
print(struct.unpack("<I", struct.pack("<I", 1)), int.from_bytes(b"\x01\x02", "big"))
