#: item: 27
#: what: reaches for the host's loopback, the metadata address, IPv6, DNS
#: seconds: 8
import os
import socket
import time

from probe import check, done

port = int(os.environ["CANARY_PORT"])
begun = time.monotonic()
targets = [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port)),
           (socket.AF_INET6, ("::ffff:127.0.0.1", port)), (socket.AF_INET, ("127.1.2.3", port)),
           (socket.AF_INET, ("0.0.0.0", port)), (socket.AF_INET6, ("::", port)),
           (socket.AF_INET, ("169.254.169.254", 80)), (socket.AF_INET6, ("fd00:ec2::254", 80)),
           (socket.AF_INET, ("10.0.0.1", 22)), (socket.AF_INET, ("172.17.0.1", 2375)),
           (socket.AF_INET, ("192.0.2.1", 53)), (socket.AF_INET6, ("2001:db8::1", 53)),
           (socket.AF_INET, ("255.255.255.255", 9)), (socket.AF_INET, ("224.0.0.1", 9))]
for family, where in targets:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(family, kind)
        except OSError:
            check("", True)
            continue
        s.settimeout(1)
        at = time.monotonic()
        try:
            s.connect(where)
            s.send(b"hello")
            if kind == socket.SOCK_STREAM:
                check(f"connected to {where}", False)
        except OSError:
            check(f"{where} was slow to refuse", time.monotonic() - at < 0.9)
        s.close()
for host in ("example.com", "localhost.localdomain.example", "metadata.google.internal"):
    try:
        check(f"resolved {host} to {socket.getaddrinfo(host, 80)}", False)
    except OSError:
        check("", True)
check("refusals were slow", time.monotonic() - begun < 5)
names = []
for index in range(1, 300):
    try:
        names.append(socket.if_indextoname(index))
    except OSError:
        pass
check(f"interfaces {names}", names == ["lo"])

# Its own loopback works.
s = socket.create_server(("127.0.0.1", port))
c = socket.create_connection(("127.0.0.1", port), timeout=2)
c.sendall(b"own")
check("own loopback", s.accept()[0].recv(3) == b"own")
done()
