import importlib
m = importlib.import_module("json")
print(m.dumps({}))
