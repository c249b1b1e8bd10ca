class Plugin:
    registry = {}
    def __init_subclass__(cls, **kw):
        Plugin.registry[cls.__name__] = cls
class A(Plugin): pass
print(Plugin.registry, Plugin.__subclasses__())
