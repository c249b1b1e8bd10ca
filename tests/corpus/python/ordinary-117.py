import os
if hasattr(os, "fork"): print("posix")
print(os.environ.get("HOME"), os.path.expanduser("~/data"))
