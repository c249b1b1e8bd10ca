import urllib.parse
print(urllib.parse.urlencode({"q": "eval(x)"}))
