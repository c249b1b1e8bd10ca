import subprocess
subprocess.run(['/bin/bash', '-c', 'id'])
