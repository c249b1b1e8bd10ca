import os, sys, time
print(os.getpid(), sys.version, time.time())
os.makedirs('out', exist_ok=True)
os.rename('a', 'b')
