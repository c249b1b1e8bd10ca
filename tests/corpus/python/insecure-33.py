import requests
s = requests.Session()
s.verify = False
s.get("https://example.org", timeout=3)
