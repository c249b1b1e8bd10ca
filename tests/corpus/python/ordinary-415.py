import ast
print(ast.literal_eval("[1, 2, {'a': 3}]"))
tree = ast.parse(open("x.py").read())
print([n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)])
