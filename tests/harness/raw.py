# SPDX-License-Identifier: Apache-2.0
"""Bytes as they are, to a server that may not want to read all of them."""
import socket


def exchange(sock, data, half=False):
    """What comes back until the server hangs up. It may do so before it has read @data: then sending, and
    the half-close after it, find nobody. With @half the client says that nothing more comes."""
    got = b""
    try:
        sock.sendall(data)
        if half:
            sock.shutdown(socket.SHUT_WR)
    except TimeoutError:
        raise
    except OSError:
        pass  # what was answered before is still to be read
    try:
        while chunk := sock.recv(65536):
            got += chunk
    except (ConnectionResetError, BrokenPipeError):
        pass
    return got
