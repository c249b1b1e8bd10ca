import importlib
json = importlib.import_module("json")
try:
    np = importlib.import_module("numpy")
except ImportError:
    np = None
from importlib import metadata, resources
print(metadata.version("pip"))
