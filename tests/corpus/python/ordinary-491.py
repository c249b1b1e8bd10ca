import site, sys
print(site.getsitepackages(), sys.path)
