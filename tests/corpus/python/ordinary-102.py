import functools, time
def timed(f):
    @functools.wraps(f)
    def w(*a, **k):
        t = time.perf_counter()
        try:
            return f(*a, **k)
        finally:
            print(time.perf_counter() - t)
    return w
@timed
def run(n): return sum(range(n))
run(10)
