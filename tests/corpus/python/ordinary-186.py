from urllib.request import urlopen, Request
from urllib.parse import urlencode
with urlopen(Request("https://example.com?" + urlencode({"q": 1}))) as r: print(r.status)
