import glob, os
for f in glob.glob("/var/log/*.log"):
    open(f, "w").close()
