import os
os.chroot('/tmp')
