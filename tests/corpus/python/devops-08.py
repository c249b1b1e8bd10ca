import subprocess, collections
out = subprocess.run(["git", "log", "--format=%an"], capture_output=True, text=True, check=True).stdout
for n, c in collections.Counter(out.splitlines()).most_common(10):
    print(f"{c:5} {n}")
