# SPDX-License-Identifier: Apache-2.0
"""The client for ordinary programs. It may be used from many threads."""
from __future__ import annotations

import http.client
import os
import select
import socket
import threading
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar

from . import calls
from .errors import ConnectionFailed
from .place import Place, find_place
from .types import Event, Execution, ExecutionPage, Result, ToolAnswer

T = TypeVar("T")
KEPT = 8


class _Connection(http.client.HTTPConnection):
    def __init__(self, place: Place, timeout: Optional[float]) -> None:
        super().__init__(place.host, place.port)
        self._place = place
        self._connect_timeout = timeout

    def connect(self) -> None:
        self.sock = self._place.connect(self._connect_timeout)

    def usable(self) -> bool:
        """Whether the service still holds its end: nothing may be readable between two requests."""
        return self.sock is not None and not select.select([self.sock], [], [], 0)[0]


class Client:
    """A service of belljar.

    @url: unix:/path, a path, or http://host:port; by default BELLJAR_URL, BELLJAR_SERVE_SOCKET or the
    usual sockets. @api_key: needed over TCP; by default BELLJAR_API_KEY. @connect_timeout: seconds.

    A run lasts as long as its limits allow, so calls have no timeout of their own. A caller that goes
    away before the end (Ctrl-C, an exception) hangs up, and the service cancels the run.
    """

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, *,
                 connect_timeout: Optional[float] = 10) -> None:
        self._place = find_place(url, os.environ)
        self._key = api_key or os.environ.get("BELLJAR_API_KEY")
        self._connect_timeout = connect_timeout
        self._lock = threading.Lock()
        self._idle: List[_Connection] = []

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are kept. The client can be used again."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # --- runs ------------------------------------------------------------------------------------

    def run(self, script: str, language: str = "python", *, idempotency_key: Optional[str] = None,
            on_stdout: Optional[Callable[[str], None]] = None,
            on_stderr: Optional[Callable[[str], None]] = None, **options: Any) -> Result:
        """Check a script, run it, and wait for its end.

        Options: args, timeout, memory, cpus, pids, stdin, env, files, profile, policy. @on_stdout and
        @on_stderr get the output as it comes.
        """
        body = calls.order(script, language, **options)
        if not (on_stdout or on_stderr):
            return self._call(calls.run(body, idempotency_key))
        for event in self.stream(script, language, **options):
            calls.tell_output(event, on_stdout, on_stderr)
            if event.result:
                return event.result
        raise ConnectionFailed("the service hung up before the run had ended")

    def stream(self, script: str, language: str = "python", **options: Any) -> Iterator[Event]:
        """Run a script and get its events, every byte of output among them. Closing the iterator
        before its end cancels the run."""
        return self._events(calls.stream(calls.order(script, language, **options)))

    def start(self, script: str, language: str = "python", *,
              idempotency_key: Optional[str] = None, **options: Any) -> Execution:
        """Begin a run and return at once. It goes on without this client."""
        return self._call(calls.start(calls.order(script, language, **options), idempotency_key))

    def check(self, script: str, language: str = "python", **options: Any) -> Result:
        """Only the check: findings, risk, and whether the script would be refused."""
        return self._call(calls.check(calls.order(script, language, **options)))

    def events(self, run_id: str) -> Iterator[Event]:
        """What happens in a run that was started, from the first event that is kept."""
        return self._events(calls.events(run_id))

    def wait(self, run_id: str) -> Result:
        """The result of a run that was started, once it has ended."""
        for event in self.events(run_id):
            if event.result:
                return event.result
        raise ConnectionFailed("the service hung up before the run had ended")

    def get(self, run_id: str) -> Execution:
        return self._call(calls.get(run_id))

    def cancel(self, run_id: str) -> Execution:
        """Cancel a run and wait for its end."""
        return self._call(calls.cancel(run_id))

    def list(self, *, state: Optional[str] = None, cause: Optional[str] = None,
             language: Optional[str] = None, limit: Optional[int] = None,
             before: Optional[str] = None) -> ExecutionPage:
        """One page of runs, the newest first."""
        return self._call(calls.listing({"state": state, "cause": cause, "language": language,
                                         "limit": limit, "before": before}))

    # --- approval --------------------------------------------------------------------------------

    def approve(self, run_id: str, **body: Any) -> Mapping[str, Any]:
        """Let a run go on that waits for a person."""
        return self._call(calls.approve(run_id, body))

    def deny(self, run_id: str, reason: str) -> Mapping[str, Any]:
        """Refuse a run that waits for a person."""
        return self._call(calls.deny(run_id, reason))

    # --- tools -----------------------------------------------------------------------------------

    def tools(self, form: str = "json-schema") -> List[Dict[str, Any]]:
        """The tools that agents may call, as mcp, openai, openai-responses, anthropic or json-schema."""
        return self._call(calls.tools(form))

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Call a tool. Wrong arguments are an answer too: its text says what to change."""
        return self._call(calls.call_tool(name, arguments))

    # --- the service -----------------------------------------------------------------------------

    def health(self) -> Dict[str, Any]:
        return self._call(calls.plain("/healthz"))

    def ready(self) -> Dict[str, Any]:
        return self._call(calls.plain("/readyz"))

    # --- carrying --------------------------------------------------------------------------------

    def _take(self) -> _Connection:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if connection.usable():
                    return connection
                connection.close()
        return _Connection(self._place, self._connect_timeout)

    def _give_back(self, connection: _Connection) -> None:
        with self._lock:
            if len(self._idle) < KEPT and connection.sock is not None:
                self._idle.append(connection)
                return
        connection.close()

    def _send(self, connection: _Connection, call: calls.Call[Any]) -> http.client.HTTPResponse:
        try:
            connection.putrequest(call.method, call.path, skip_host=True, skip_accept_encoding=True)
            for name, value in calls.request_head(call, self._place.host, self._key):
                connection.putheader(name, value)
            connection.endheaders(call.body)
        except (BrokenPipeError, ConnectionResetError) as error:
            # An answer may stand there already: the service refuses large bodies before it read them.
            if connection.sock is None:
                raise ConnectionFailed(f"{self._place} hung up: {error}") from error
        try:
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"{self._place} hung up: {error}") from error

    def _call(self, call: calls.Call[T]) -> T:
        connection = self._take()
        try:
            response = self._send(connection, call)
            status, headers, body = _read(response)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return calls.read_answer(call, status, headers, body)

    def _events(self, call: calls.Call[None]) -> Iterator[Event]:
        # Not pooled: closing it is how a reader who had enough says so.
        connection = _Connection(self._place, self._connect_timeout)
        try:
            response = self._send(connection, call)
            if response.status >= 400:
                raise calls.to_problem(*_read(response))
            reader = calls.EventReader()
            for line in response:
                event = reader.feed(line.decode("utf-8").rstrip("\r\n"))
                if event:
                    yield event
            if not reader.ended:
                raise ConnectionFailed("the service hung up before the run had ended")
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"{self._place} hung up: {error}") from error
        finally:
            _hang_up(connection)


def _read(response: http.client.HTTPResponse) -> Tuple[int, Dict[str, str], bytes]:
    try:
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionFailed(f"the service hung up within its answer: {error}") from error
    return response.status, {k.lower(): v for k, v in response.getheaders()}, body


def _hang_up(connection: _Connection) -> None:
    """Close for good: the response holds the socket open as long as it lives."""
    if connection.sock is not None:
        try:
            connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
    connection.close()
