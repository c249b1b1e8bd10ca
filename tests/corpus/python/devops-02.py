import subprocess
def git(*args):
    return subprocess.run(["git", *args], check=True, capture_output=True, text=True).stdout.strip()
print(git("rev-parse", "HEAD"), git("status", "--porcelain"))
