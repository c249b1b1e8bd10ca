import platform
print(platform.system(), platform.release())
