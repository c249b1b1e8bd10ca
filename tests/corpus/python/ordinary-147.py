from operator import attrgetter, itemgetter, methodcaller
rows = [("a", 2), ("b", 1)]
print(sorted(rows, key=itemgetter(1)), list(map(methodcaller("upper"), ["x"])))
