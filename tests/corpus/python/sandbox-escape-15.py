import importlib.util
spec = importlib.util.spec_from_file_location('m', '/tmp/m.py')
