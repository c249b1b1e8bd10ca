import os
os.system('ls -la')
