import requests
requests.get(url, verify=False)
