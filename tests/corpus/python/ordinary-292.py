import ast, sys
tree = ast.parse(open(sys.argv[1]).read())
for n in ast.walk(tree):
    if isinstance(n, ast.FunctionDef):
        print(n.lineno, n.name, len(n.args.args))
print(ast.unparse(tree)[:80])
