import os
os.mknod('disk')
