import os

os.unlink('/etc/passwd')
