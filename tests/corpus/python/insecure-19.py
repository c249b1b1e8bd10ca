import tarfile
tarfile.open("x.tgz").extractall("/tmp/x")
