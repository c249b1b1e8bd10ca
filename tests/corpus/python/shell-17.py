import subprocess as s
s.check_output(f'ping {host}', shell=True)
