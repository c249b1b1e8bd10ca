import requests
r = requests.get('https://api.github.com/repos/a/b', headers={'Authorization': f'Bearer {token}'}, timeout=10)
r.raise_for_status()
