import string
AB = string.digits + string.ascii_letters
def enc(n):
    s = ""
    while n: n, r = divmod(n, 62); s = AB[r] + s
    return s or "0"
print(enc(125), "".join(chr(c) for c in (72, 105)))
