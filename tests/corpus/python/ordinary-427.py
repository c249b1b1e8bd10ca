class Meta(type):
    registry = {}
    def __new__(m, n, b, d):
        c = super().__new__(m, n, b, d); m.registry[n] = c; return c
class Base(metaclass=Meta):
    def __init_subclass__(cls, **k): super().__init_subclass__(**k)
class A(Base): pass
print(Meta.registry, A.__mro__, A.__name__)
