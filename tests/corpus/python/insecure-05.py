import os
os.chmod("upload", 0o777)
