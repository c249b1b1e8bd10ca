import ssl, socket
ctx = ssl.SSLContext(ssl.PROTOCOL_TLSv1)
