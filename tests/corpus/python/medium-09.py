import importlib
plugin = importlib.import_module(name)
