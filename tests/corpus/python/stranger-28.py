dict(vars(__builtins__))["exec"](data)
