import ast
cfg = ast.literal_eval(open('x').read())
