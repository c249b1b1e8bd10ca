import os
os.rename("/etc", "/etc.old")
