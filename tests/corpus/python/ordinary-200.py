limit = 3
names = {}
for key in ("limit", "__name__"):
    names[key] = globals()[key]
print(sorted(names))
list(map(str, [names]))
