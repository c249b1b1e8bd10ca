class A:
    def __init__(self, **kw): self.__dict__.update(kw)
class B(A):
    def __init__(self, **kw): super().__init__(**kw); self.k = self.__class__.__name__
print(B(x=1).x)
