# SPDX-License-Identifier: Apache-2.0
"""Ports of the loopback for servers of the tests' own."""
import pathlib
import random
import socket

RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
PORTS = range(10000, 65536)


def free_port():
    """A port on which nobody listens, out of those that the kernel gives to no connection by itself: it stays
    free until the server that is told of it has started."""
    low, high = map(int, RANGE.read_text().split())
    ports = [port for port in PORTS if not low <= port <= high] or PORTS
    while True:
        port = random.SystemRandom().choice(ports)
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
