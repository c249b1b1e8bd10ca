print("".join(chr(ord("a") + i) for i in range(26)))
print("".join(reversed("abc")), "abc"[::-1], "".join(map(str, [1, 2])))
