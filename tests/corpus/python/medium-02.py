import subprocess
out = subprocess.check_output(['date'])
