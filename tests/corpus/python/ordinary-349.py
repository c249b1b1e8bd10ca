import zlib, pathlib
raw = zlib.decompress(pathlib.Path('x.z').read_bytes())
print(len(raw))
