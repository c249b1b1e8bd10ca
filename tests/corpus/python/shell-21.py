import subprocess
subprocess.run(['sh', '-c', command])
