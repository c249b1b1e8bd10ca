import os, requests
s = requests.Session()
s.auth = (os.environ["U"], os.environ["P"])
s.headers["Authorization"] = f"Bearer {os.environ['TOKEN']}"
s.get("http://localhost:8000/health")
