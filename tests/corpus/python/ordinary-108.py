import importlib.util
print(importlib.util.find_spec("yaml") is not None)
