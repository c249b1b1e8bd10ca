import ast
conf = ast.literal_eval(open("conf.txt").read())
print(conf)
