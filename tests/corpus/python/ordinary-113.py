class Handler:
    def do_get(self): return 1
    def dispatch(self, verb):
        m = getattr(self, f"do_{verb.lower()}", None)
        return m() if m else None
print(Handler().dispatch("GET"))
