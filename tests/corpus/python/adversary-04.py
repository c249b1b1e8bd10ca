def f(): pass
def g(): pass
f.__code__ = g.__code__
