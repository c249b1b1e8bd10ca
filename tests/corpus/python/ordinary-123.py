try:
    import orjson as json
except ImportError:
    import json
try:
    import numpy as np
except ImportError:
    np = None
print(json.dumps([]), np)
