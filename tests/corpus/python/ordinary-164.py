class Cfg: pass
c = Cfg()
for k, v in {"a": 1, "b": 2}.items():
    setattr(c, k, v)
print(vars(c), hasattr(c, "a"), getattr(c, "zz", None))
