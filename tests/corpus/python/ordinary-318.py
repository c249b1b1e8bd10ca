def f(a, b):
    return "{a} {b}".format(**locals())
print(f(1, 2), vars(), globals().get("x"))
