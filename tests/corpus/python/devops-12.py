from fabric import Connection
import os
def deploy():
    c = Connection("web1.example.org", user="deploy", connect_kwargs={"key_filename": os.path.expanduser("~/.ssh/deploy_key")})
    c.run("uptime")
