import os, stat
os.chmod("run.sh", os.stat("run.sh").st_mode | stat.S_IXUSR)
os.chmod("x", 0o644)
