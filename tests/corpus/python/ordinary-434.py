import contextlib, io
@contextlib.contextmanager
def timed(n):
    import time; t = time.perf_counter(); yield; print(n, time.perf_counter() - t)
with timed("x"), contextlib.redirect_stdout(io.StringIO()) as s: print("y")
