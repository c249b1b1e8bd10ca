import struct
print(struct.unpack("<I", struct.pack("<I", 7)))
