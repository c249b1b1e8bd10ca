import itertools, functools
print(functools.reduce(lambda a, b: a * b, range(1, 6)))
print(list(itertools.permutations("abc", 2)))
