# Takes memory without end: the limit on memory ends it, and the result says so.
hoard = []
while True:
    hoard.append(bytearray(16 * 1024 * 1024))
