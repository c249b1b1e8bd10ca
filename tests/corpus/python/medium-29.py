import subprocess
out = subprocess.run(["git", "log", "--oneline"], capture_output=True, text=True, check=True).stdout
print(len(out.splitlines()))
