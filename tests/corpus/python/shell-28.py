try:
    import os
except ImportError:
    os = None
os.system('id')
