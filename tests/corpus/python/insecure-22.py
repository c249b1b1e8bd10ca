import requests
requests.post("https://example.com", json={}, verify=False)
