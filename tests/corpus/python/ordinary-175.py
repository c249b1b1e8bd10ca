import tarfile
with tarfile.open("x.tgz") as t: t.extractall("out", filter="data")
