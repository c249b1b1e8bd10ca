from concurrent.futures import ThreadPoolExecutor, as_completed
import urllib.request
URLS = ["https://example.org/", "https://example.com/"]
def load(u):
    with urllib.request.urlopen(u, timeout=5) as r:
        return len(r.read())
with ThreadPoolExecutor(4) as ex:
    fs = {ex.submit(load, u): u for u in URLS}
    for f in as_completed(fs):
        print(fs[f], f.result())
