class A:
    def __repr__(self):
        return "{0.__class__.__name__}({0.x!r})".format(self)
    x = 1
print("{name:>{width}}".format(name="a", width=5), "{:,}".format(10**6))
