import subprocess, shlex
cmd = "ls -l /tmp"
print(subprocess.check_output(shlex.split(cmd)))
