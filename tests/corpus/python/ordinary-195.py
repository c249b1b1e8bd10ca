def steps():
    yield print
    yield len
for f in steps():
    f("x")
