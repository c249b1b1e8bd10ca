import subprocess
def run(cmd, **kw):
    kw.setdefault("check", True)
    return subprocess.run(cmd, **kw)
run(["make", "-j4"], cwd="src")
