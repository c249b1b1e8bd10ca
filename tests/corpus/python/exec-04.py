ns = {}
exec("def f(): return 1", ns)
print(ns["f"]())
