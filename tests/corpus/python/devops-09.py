import subprocess, sys
SERVICES = ["web", "db", "cache"]
def dc(*a): return subprocess.call(["docker", "compose", *a])
if len(sys.argv) < 2 or sys.argv[1] not in ("up", "down", "logs"):
    sys.exit("usage: dc.py up|down|logs")
sys.exit(dc(sys.argv[1], *( ["-d"] if sys.argv[1] == "up" else []), *SERVICES))
