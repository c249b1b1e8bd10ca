import builtins
builtins.eval("1")
