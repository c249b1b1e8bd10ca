from urllib.parse import urlparse, urlencode, quote
u = urlparse("https://user@example.org:8080/a?b=c#d")
print(u.username, u.password, u.hostname)
print("https://example.org/?" + urlencode({"token": "abc", "q": "x y"}))
DB = "postgresql://user:password@localhost:5432/db"
EX = "https://USER:PASS@example.com/"
