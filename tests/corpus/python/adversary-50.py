import os
class E:
    def __enter__(self): return os.popen
    def __exit__(self, *a): pass
with E() as f: f("id")
