import subprocess
opts = {"shell": True}
subprocess.run("id", **opts)
