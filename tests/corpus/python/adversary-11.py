import os
os.environ.update({"LD_PRELOAD": "/tmp/x.so"})
