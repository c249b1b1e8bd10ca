import subprocess, sys
subprocess.run([sys.executable, "-c", "import os; os.system('id')"])
