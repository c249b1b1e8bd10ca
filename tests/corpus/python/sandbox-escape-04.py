def f(): pass
f.__init__.__globals__['__builtins__']['eval']('1')
