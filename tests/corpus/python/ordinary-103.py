class D:
    def __get__(self, o, t=None): return 1
    def __set_name__(self, o, n): self.n = n
class A:
    d = D()
    __slots__ = ()
    def __getattr__(self, n): return n
print(A().d, A().foo, A.__dict__["d"])
