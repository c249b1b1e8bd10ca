import sys
data = open(sys.argv[1], "rb").read()
for i in range(0, len(data), 16):
    c = data[i:i + 16]
    print(f"{i:08x}  {c.hex(' '):<48} {''.join(chr(b) if 32 <= b < 127 else '.' for b in c)}")
