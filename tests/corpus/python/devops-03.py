import shutil
import tempfile
import os
d = tempfile.mkdtemp()
try:
    with open(os.path.join(d, "x"), "w") as f:
        f.write("hi")
finally:
    shutil.rmtree(d)
