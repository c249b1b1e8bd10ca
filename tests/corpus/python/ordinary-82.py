class Plugin:
    @classmethod
    def all(cls):
        return cls.__subclasses__()


for plugin in Plugin.all():
    print(plugin.__name__)
