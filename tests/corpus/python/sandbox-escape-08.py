f.__code__ = g.__code__
