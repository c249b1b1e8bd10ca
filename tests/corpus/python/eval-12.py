def pick(kind):
    if kind == "a":
        return eval
    return len
pick("a")("print(1)")
