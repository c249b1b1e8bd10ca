from itertools import chain, groupby, islice, product
print(list(islice(chain([1], [2]), 2)), [(k, list(g)) for k, g in groupby("aab")], len(list(product("ab", repeat=3))))
