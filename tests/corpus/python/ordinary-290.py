import abc
class Exporter(abc.ABC):
    registry = {}
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.registry[cls.__name__.lower()] = cls
    @abc.abstractmethod
    def export(self, rows): ...
class Csv(Exporter):
    def export(self, rows): return "\n".join(",".join(map(str, r)) for r in rows)
for c in Exporter.__subclasses__():
    print(c.__name__, c().export([(1, 2)]))
