import inspect
def f(a, b=1): pass
print(inspect.signature(f), inspect.getsource(f), inspect.currentframe().f_lineno)
