import contextlib
import os
@contextlib.contextmanager
def cd(p):
    old = os.getcwd()
    os.chdir(p)
    try:
        yield
    finally:
        os.chdir(old)
with cd("/tmp"):
    print(os.getcwd())
