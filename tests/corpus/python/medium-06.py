import os
os.symlink('a', 'b')
