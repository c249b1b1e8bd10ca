handlers = {"add": lambda a, b: a + b, "len": len}
print(handlers["add"](1, 2))
