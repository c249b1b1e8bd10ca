import platform, os, sys
print(platform.system(), os.cpu_count(), os.name, sys.executable, os.getpid())
