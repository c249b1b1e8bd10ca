import importlib.metadata, platform, sys
print(sys.version_info, platform.system(), importlib.metadata.version("pip"))
