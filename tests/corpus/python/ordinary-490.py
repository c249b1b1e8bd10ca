import doctest, timeit
doctest.testmod(); print(timeit.timeit(lambda: sum(range(10)), number=10))
