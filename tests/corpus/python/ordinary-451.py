def getter(o, name, default=None): return getattr(o, name, default)
for n in ("a", "b"): setattr(x, n, getattr(y, n))
print(getattr(args, "verbose", False), hasattr(x, "__len__"))
