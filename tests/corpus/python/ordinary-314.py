print(open("/etc/os-release").read())
with open("/proc/stat") as f:
    cpu = f.readline().split()
