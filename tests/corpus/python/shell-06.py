import os
f = os.system
f('id')
