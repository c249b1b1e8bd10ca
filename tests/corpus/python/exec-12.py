g = globals()
g["__builtins__"]["exec"]("x = 1")
