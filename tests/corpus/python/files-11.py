import os
os.environ['LD_PRELOAD'] = '/tmp/x.so'
