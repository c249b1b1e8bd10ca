import sys
expr = sys.stdin.readline()
result = eval(expr, {"__builtins__": {}})
print(result)
