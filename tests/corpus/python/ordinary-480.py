d = dict(vars(args)); print(d["name"]); e = dict(zip("ab", [1, 2])); print(e["a"])
