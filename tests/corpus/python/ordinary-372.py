msg = "To delete everything, run rm -rf / (do not!)"
doc = "eval() and exec() are dangerous; os.system('x') too"
print(msg, doc)
