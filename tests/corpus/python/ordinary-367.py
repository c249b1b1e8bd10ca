import tarfile
with tarfile.open('x.tgz', 'w:gz') as t:
    t.add('src')
