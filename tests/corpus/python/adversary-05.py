import socket
s = socket.socket(socket.AF_UNIX)
s.connect("/var/run/docker.sock")
