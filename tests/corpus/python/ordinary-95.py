from contextlib import contextmanager, suppress, ExitStack
@contextmanager
def tag(n):
    print(f"<{n}>"); yield; print(f"</{n}>")
with tag("a"), suppress(KeyError):
    {}["x"]
