import os, stat
os.chmod("out.txt", stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
