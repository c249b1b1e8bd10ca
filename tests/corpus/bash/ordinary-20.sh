tar xzf a.tgz -C out
