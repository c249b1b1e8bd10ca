from pathlib import Path
os_release = dict(l.split("=", 1) for l in Path("/etc/os-release").read_text().splitlines() if "=" in l)
print(os_release.get("ID"))
print(Path("/proc/meminfo").read_text().splitlines()[0])
print(open("/etc/hostname").read())
