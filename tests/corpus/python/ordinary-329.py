class Cfg: pass
c = Cfg()
for k, v in {"a": 1}.items():
    setattr(c, k, v)
print(c.__dict__, c.__class__.__name__, type(c).__mro__)
