import timeit
print(timeit.timeit("sum(range(100))", number=10))
print(timeit.timeit(lambda: sum(range(100)), number=10))
