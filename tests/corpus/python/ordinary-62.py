import gzip
print(gzip.decompress(gzip.compress(b"abc")))
