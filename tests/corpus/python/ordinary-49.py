class Shape:
    def __init__(self, **kw):
        self.__dict__.update(kw)
    def __repr__(self):
        return f"{self.__class__.__name__}({self.__dict__})"
print(Shape(a=1))
