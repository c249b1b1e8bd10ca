import socket
with socket.create_connection(("localhost", 6379), timeout=2) as s:
    s.sendall(b"PING\r\n")
    print(s.recv(64))
