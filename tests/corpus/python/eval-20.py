import functools
ev = functools.partial(eval, '1 + 1')
ev()
