import builtins
setattr(builtins, "open", evil)
