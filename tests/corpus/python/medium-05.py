import os
os.kill(pid, 15)
