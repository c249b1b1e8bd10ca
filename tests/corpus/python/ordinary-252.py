import struct
with open("x.bmp", "rb") as f:
    head = f.read(54)
w, h = struct.unpack_from("<ii", head, 18)
print(w, h, bytes.fromhex("deadbeef"), int.from_bytes(b"\x00\x10", "big"))
