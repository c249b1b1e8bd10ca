import subprocess
subprocess.getoutput('id')
