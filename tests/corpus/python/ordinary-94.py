class Cmd:
    def exec(self): return "x"
    def system(self): return "y"
    def popen(self): return "z"
c = Cmd(); print(c.exec(), c.system(), c.popen())
