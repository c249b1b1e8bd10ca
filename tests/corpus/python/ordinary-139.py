from functools import lru_cache, partial, reduce
import operator
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(reduce(operator.mul, [1, 2, 3]), partial(pow, 2)(3), fib(20))
