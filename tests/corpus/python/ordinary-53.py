import contextlib
@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    yield
    print(f"</{name}>")
with tag("a"):
    pass
