import operator
rows = [(1, "b"), (2, "a")]
print(sorted(rows, key=operator.itemgetter(1)))
print(sorted(rows, key=operator.attrgetter("__len__")))
