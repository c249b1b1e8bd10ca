BASE = "https://api.example.com"
url = BASE + "/v1/" + "users" + "?page=" + str(2)
print(url, f"{BASE}/v2/items/{3}")
