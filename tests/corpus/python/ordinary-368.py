import importlib
mod = importlib.import_module('json')
print(mod.dumps([1]))
