def exec_query(q): return q
class A:
    def system(self, x): return x
    def popen(self): pass
A().system('x'); exec_query('x')
