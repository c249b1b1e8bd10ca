handlers = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b}
op, a, b = "add 1 2".split()
print(handlers[op](int(a), int(b)))
