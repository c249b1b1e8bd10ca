import os
def g():
    yield os.system
next(g())("id")
