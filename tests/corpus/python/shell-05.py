import os
out = os.popen('whoami').read()
