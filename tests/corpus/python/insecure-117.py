import urllib.request

urllib.request.urlretrieve("ftp://mirror.test/tool.tar.gz", "tool.tar.gz")
