import os
class D:
    def __get__(self, o, t): return os.system
class K: run = D()
K().run("id")
