import os
import platform
import socket
print(os.uname(), platform.platform(), socket.gethostname(), os.cpu_count(), os.getpid(), os.getloadavg())
print(os.path.realpath(__file__), os.stat(__file__).st_mode & 0o777)
os.chmod("script.sh", 0o755)
