import importlib
m = importlib.util.find_spec('os').loader.load_module('os')
m.system('id')
