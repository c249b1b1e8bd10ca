import builtins
builtins.open = lambda *a: None
