import subprocess
from base64 import b64decode

picture = b64decode("iVBORw0KGgo=")
name = b"caf\xe9".decode("latin-1")
done = subprocess.run(["file", "-"], input=picture, capture_output=True, check=True)
print(name, done.stdout.decode("utf-8"), bytes("price", "cp1252"))
