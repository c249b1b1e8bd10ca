import subprocess
opts = dict(shell=True)
subprocess.run('id', shell=True)
