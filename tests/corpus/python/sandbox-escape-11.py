__builtins__.__import__('os')
