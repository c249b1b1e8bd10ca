def compile_pattern(p): return p
class Model:
    def eval(self): return self
    def exec(self, q): return q
m = Model().eval(); m.exec("x"); compile_pattern("a")
