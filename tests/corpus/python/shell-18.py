from subprocess import Popen, PIPE
Popen(cmd, shell=True, stdout=PIPE)
