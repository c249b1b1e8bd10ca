RULES = ["eval(", "exec(", "os.system", "subprocess.*shell=True", "rm -rf /", "pickle.loads"]
for i, line in enumerate(open("x.py"), 1):
    for r in RULES:
        if r in line: print(i, r)
