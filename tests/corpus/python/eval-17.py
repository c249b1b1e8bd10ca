with open("x") as f:
    data = eval(f.read())
