import ssl, socket
ctx = ssl.create_default_context()
with socket.create_connection(("example.org", 443)) as s:
    with ctx.wrap_socket(s, server_hostname="example.org") as t:
        print(t.version())
