import inspect
def f(a, b=1): pass
print(inspect.signature(f))
