def mandel(c, n=50):
    z = 0
    for i in range(n):
        z = z*z + c
        if abs(z) > 2: return i
    return n
for y in range(-10, 11):
    print("".join(" .:-=+*#%@"[mandel(complex(x/20, y/10)) % 10] for x in range(-40, 20)))
