import operator, functools
rows.sort(key=operator.itemgetter('name'))
rows.sort(key=operator.attrgetter('age'))
total = functools.reduce(operator.mul, [1, 2, 3])
add5 = functools.partial(operator.add, 5)
