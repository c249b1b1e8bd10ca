import subprocess
subprocess.call('ls | wc', shell=True)
