# SPDX-License-Identifier: Apache-2.0
"""Where the service is: a Unix socket, or a host and port."""
from __future__ import annotations

import os
import socket
import urllib.parse
from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

from .errors import ConnectionFailed


@dataclass(frozen=True)
class Place:
    path: Optional[str]
    """The Unix socket; None: TCP."""
    host: str = "localhost"
    port: int = 80

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else f"http://{self.host}:{self.port}"

    def connect(self, timeout: Optional[float]) -> socket.socket:
        """A connected socket. @timeout holds for connecting alone."""
        try:
            if self.path:
                sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    sock.settimeout(timeout)
                    sock.connect(self.path)
                except OSError:
                    sock.close()
                    raise
            else:
                sock = socket.create_connection((self.host, self.port), timeout)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise unreachable(self, error) from error
        sock.settimeout(None)
        return sock


def unreachable(place: Place, error: Exception) -> ConnectionFailed:
    return ConnectionFailed(f"no service at {place} ({error}); start one with: belljar serve")


def usual_sockets(env: Mapping[str, str]) -> Tuple[str, ...]:
    own = env.get("XDG_RUNTIME_DIR")
    return (*([f"{own}/belljar/belljar.sock"] if own else []), "/run/belljar/belljar.sock")


def find_place(url: Optional[str], env: Mapping[str, str]) -> Place:
    """The place that @url names: unix:/path, a path, or http://host:port. None: BELLJAR_URL,
    BELLJAR_SERVE_SOCKET, else the usual sockets."""
    url = url or env.get("BELLJAR_URL") or env.get("BELLJAR_SERVE_SOCKET")
    if not url:
        usual = usual_sockets(env)
        return Place(next((path for path in usual if os.path.exists(path)), usual[-1]))
    if url.startswith("/"):
        return Place(url)
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "unix" and parts.path.startswith("/"):
        return Place(urllib.parse.unquote(parts.path))
    if parts.scheme == "http" and parts.hostname and parts.path in ("", "/"):
        return Place(None, parts.hostname, parts.port or 80)
    raise ValueError(f"{url!r} names no service: use unix:/path/to.sock or http://host:port")
