import os, stat
os.chmod("/tmp/sh", stat.S_ISUID | 0o755)
