class Handler:
    def do_get(self, x): return x
    def do_put(self, x): return x * 2
h = Handler()
for cmd in ("get", "put"):
    fn = getattr(h, "do_" + cmd, None)
    if fn:
        print(fn(3))
