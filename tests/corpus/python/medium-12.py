import tarfile
tarfile.open('x.tar').extractall('out')
