import functools
import time
def timed(f):
    @functools.wraps(f)
    def w(*a, **k):
        t = time.time()
        try:
            return f(*a, **k)
        finally:
            print(f.__name__, time.time() - t)
    return w
@timed
@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(30)
