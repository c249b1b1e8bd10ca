import subprocess
subprocess.run(["ls"], env={"LD_PRELOAD": "/tmp/x.so"})
