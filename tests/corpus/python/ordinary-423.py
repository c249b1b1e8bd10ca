from functools import lru_cache, reduce, partial
@lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(reduce(lambda a, b: a * b, range(1, 10)), fib(90), partial(print, end="")("x"))
