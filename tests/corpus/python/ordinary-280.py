import os, time
import requests
class Client:
    def __init__(self, base="https://api.example.org", token=None):
        self.s = requests.Session()
        self.s.headers["Authorization"] = f"Bearer {token or os.environ['API_TOKEN']}"
        self.base = base
    def get(self, path, **params):
        for i in range(3):
            r = self.s.get(self.base + path, params=params, timeout=10)
            if r.status_code != 429:
                r.raise_for_status()
                return r.json()
            time.sleep(2 ** i)
print(Client().get("/v1/items", limit=5))
