import ast
tree = ast.parse("x = eval('1')")
for n in ast.walk(tree):
    if isinstance(n, ast.Call):
        print(ast.dump(n))
