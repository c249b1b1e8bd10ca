import types
ns = types.SimpleNamespace(a=1)
def copy_func(f):
    return functools.partial(f)
import functools
print(ns, isinstance(copy_func(len), functools.partial))
