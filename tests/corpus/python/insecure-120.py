import tarfile

with tarfile.open("upload.tar") as archive:
    archive.extractall("out", filter="fully_trusted")
