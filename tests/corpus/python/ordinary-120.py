import requests
r = requests.get("https://api.example.com/v1/items", params={"q": "x"}, timeout=10)
r.raise_for_status()
for i in r.json()["items"]:
    print(i["name"])
