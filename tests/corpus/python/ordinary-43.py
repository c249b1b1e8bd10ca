import base64
print(base64.b64encode(b"hello").decode())
