class Meta(type):
    registry = {}
    def __new__(mcs, name, bases, ns):
        cls = super().__new__(mcs, name, bases, ns)
        mcs.registry[name] = cls
        return cls
class Base(metaclass=Meta): pass
class A(Base): pass
print(Meta.registry, Base.__subclasses__(), A.__mro__, A().__class__.__name__)
