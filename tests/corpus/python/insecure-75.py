import zipfile
with zipfile.ZipFile(f) as z:
    z.extractall('/')
