import subprocess
out = subprocess.check_output(["ls", "-l"], text=True)
p = subprocess.Popen(["sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
