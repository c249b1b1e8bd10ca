import base64, os
h = {"Authorization": "Basic " + base64.b64encode(f"{os.environ['U']}:{os.environ['P']}".encode()).decode()}
b = {"Authorization": f"Bearer {os.environ['T']}", "X-API-Key": os.environ["K"]}
print(h, b)
