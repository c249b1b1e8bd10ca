class Compiler:
    def compile(self, src): return src
    def execute(self): return self.compile("x")
print(Compiler().execute())
