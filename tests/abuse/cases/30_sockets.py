#: item: 30
#: what: hides more than its memory limit in the buffers of sockets that nobody reads
#: args: ["--memory", "64MiB"]
#: modes: [root, rootless]
#: expect: {any: [{cause: exited, exit_code: 0}, {cause: oom}]}
import socket

from probe import check, done

BLOCK = b"x" * (1 << 20)
held = []
with socket.socket() as door:
    door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
    door.bind(("127.0.0.1", 0))
    door.listen(500)
    for _ in range(450):
        near = socket.create_connection(door.getsockname())
        held += [(near, door.accept()[0])]
sent = 0
for near, _ in held * 2:
    near.setblocking(False)
    try:
        while True:
            sent += near.send(BLOCK)
    except BlockingIOError:
        pass
check(f"{sent >> 20} MiB wait in sockets", sent < 64 << 20)
done()
