import tarfile
with tarfile.open("a.tar") as t:
    for m in t.getmembers():
        t.extract(m, "out")
