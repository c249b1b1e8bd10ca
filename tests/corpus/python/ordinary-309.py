from timeit import timeit, repeat
def f(n): return sum(range(n))
print(timeit("f(100)", globals=globals(), number=1000))
print(timeit("f(100)", setup="from __main__ import f", number=10))
for n in (1, 2):
    print(timeit(f"f({n})", setup="from __main__ import f", number=10))
print(timeit(lambda: f(3), number=10))
