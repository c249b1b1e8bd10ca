class Meta(type):
    registry = {}
    def __new__(m, name, bases, ns):
        cls = super().__new__(m, name, bases, ns)
        m.registry[name] = cls
        return cls
class Base(metaclass=Meta): pass
class A(Base): pass
print(Meta.registry, A.__mro__, A.__class__.__name__, A.__subclasses__())
