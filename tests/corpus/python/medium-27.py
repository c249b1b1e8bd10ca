import socket
s = socket.create_connection(("example.com", 80), timeout=5)
s.sendall(b"GET / HTTP/1.0\r\n\r\n")
print(s.recv(100))
