# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio. Cancelling the task that waits for a run cancels the run."""
from __future__ import annotations

import asyncio
import os
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Set, Tuple, Type, TypeVar

from . import calls
from .errors import ConnectionFailed
from .place import find_place, unreachable
from .types import Event, Execution, ExecutionPage, Result, ToolAnswer

T = TypeVar("T")
LINE_MAX = 1 << 20
"""The longest line: an event of output holds a few KiB, the result some tens."""


class _Exchange:
    """One connection for one request: enough of HTTP/1.1 for what the service sends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.status = 0
        self.headers: Dict[str, str] = {}
        self._left = 0
        self._chunked = False

    async def ask(self, call: calls.Call[Any], host: str, key: Optional[str]) -> None:
        head = [f"{call.method} {call.path} HTTP/1.1"]
        for name, value in calls.request_head(call, host, key):
            if "\r" in value or "\n" in value:
                raise ValueError(f"a line break in the header {name}")
            head.append(f"{name}: {value}")
        self.writer.write(("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + (call.body or b""))
        try:
            await self.writer.drain()
        except ConnectionError:
            pass  # the answer may be there: large bodies are refused before they are read
        await self._read_head()

    async def _line(self) -> str:
        line = await self.reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionFailed("the service hung up before it had answered")
        return line.decode("latin-1").rstrip("\r\n")

    async def _read_head(self) -> None:
        status = (await self._line()).split(" ", 2)
        if len(status) < 2 or not status[0].startswith("HTTP/1.") or not status[1].isdigit():
            raise ConnectionFailed("this is no HTTP service")
        self.status = int(status[1])
        while line := await self._line():
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        if self.status == 100:
            self.headers = {}
            await self._read_head()
            return
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        self._left = -1 if self._chunked else int(self.headers.get("content-length", "0"))

    async def piece(self) -> bytes:
        """Some bytes of the body; none at its end."""
        if self._chunked and self._left <= 0:
            if self._left == 0:
                await self._line()
            self._left = int((await self._line()).split(";")[0], 16)
            if self._left == 0:
                self._chunked = False
                return b""
        if self._left == 0:
            return b""
        data = await self.reader.read(min(self._left, 65536))
        if not data:
            raise ConnectionFailed("the service hung up within its answer")
        self._left -= len(data)
        return data

    async def body(self) -> bytes:
        pieces = []
        while data := await self.piece():
            pieces.append(data)
        return b"".join(pieces)

    async def lines(self) -> AsyncIterator[str]:
        rest = b""
        while data := await self.piece():
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield line.decode("utf-8").rstrip("\r")


class AsyncClient:
    """The same as Client, with await. See there for @url, @api_key and @connect_timeout."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, *,
                 connect_timeout: Optional[float] = 10) -> None:
        self._place = find_place(url, os.environ)
        self._key = api_key or os.environ.get("BELLJAR_API_KEY")
        self._connect_timeout = connect_timeout
        self._live: Set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up wherever an answer is still waited for."""
        for writer in list(self._live):
            writer.close()

    # --- runs ------------------------------------------------------------------------------------

    async def run(self, script: str, language: str = "python", *,
                  idempotency_key: Optional[str] = None,
                  on_stdout: Optional[Callable[[str], None]] = None,
                  on_stderr: Optional[Callable[[str], None]] = None, **options: Any) -> Result:
        body = calls.order(script, language, **options)
        if not (on_stdout or on_stderr):
            return await self._call(calls.run(body, idempotency_key))
        async for event in self.stream(script, language, **options):
            calls.tell_output(event, on_stdout, on_stderr)
            if event.result:
                return event.result
        raise ConnectionFailed("the service hung up before the run had ended")

    def stream(self, script: str, language: str = "python", **options: Any) -> AsyncIterator[Event]:
        return self._events(calls.stream(calls.order(script, language, **options)))

    async def start(self, script: str, language: str = "python", *,
                    idempotency_key: Optional[str] = None, **options: Any) -> Execution:
        return await self._call(calls.start(calls.order(script, language, **options), idempotency_key))

    async def check(self, script: str, language: str = "python", **options: Any) -> Result:
        return await self._call(calls.check(calls.order(script, language, **options)))

    def events(self, run_id: str) -> AsyncIterator[Event]:
        return self._events(calls.events(run_id))

    async def wait(self, run_id: str) -> Result:
        async for event in self.events(run_id):
            if event.result:
                return event.result
        raise ConnectionFailed("the service hung up before the run had ended")

    async def get(self, run_id: str) -> Execution:
        return await self._call(calls.get(run_id))

    async def cancel(self, run_id: str) -> Execution:
        return await self._call(calls.cancel(run_id))

    async def list(self, *, state: Optional[str] = None, cause: Optional[str] = None,
                   language: Optional[str] = None, limit: Optional[int] = None,
                   before: Optional[str] = None) -> ExecutionPage:
        return await self._call(calls.listing({"state": state, "cause": cause, "language": language,
                                               "limit": limit, "before": before}))

    async def approve(self, run_id: str, **body: Any) -> Mapping[str, Any]:
        return await self._call(calls.approve(run_id, body))

    async def deny(self, run_id: str, reason: str) -> Mapping[str, Any]:
        return await self._call(calls.deny(run_id, reason))

    async def tools(self, form: str = "json-schema") -> List[Dict[str, Any]]:
        return await self._call(calls.tools(form))

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        return await self._call(calls.call_tool(name, arguments))

    async def health(self) -> Dict[str, Any]:
        return await self._call(calls.plain("/healthz"))

    async def ready(self) -> Dict[str, Any]:
        return await self._call(calls.plain("/readyz"))

    # --- carrying --------------------------------------------------------------------------------

    async def _open(self) -> Tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        place = self._place
        if place.path:
            opening = asyncio.open_unix_connection(place.path, limit=LINE_MAX)
        else:
            opening = asyncio.open_connection(place.host, place.port, limit=LINE_MAX)
        try:
            return await asyncio.wait_for(opening, self._connect_timeout)
        except (OSError, asyncio.TimeoutError) as error:
            raise unreachable(place, error) from error

    async def _call(self, call: calls.Call[T]) -> T:
        reader, writer = await self._open()
        self._live.add(writer)
        try:
            exchange = _Exchange(reader, writer)
            await exchange.ask(call, self._place.host, self._key)
            body = await exchange.body()
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ConnectionFailed(f"{self._place} hung up: {error}") from error
        finally:
            self._live.discard(writer)
            writer.close()
        return calls.read_answer(call, exchange.status, exchange.headers, body)

    async def _events(self, call: calls.Call[None]) -> AsyncIterator[Event]:
        reader, writer = await self._open()
        self._live.add(writer)
        try:
            exchange = _Exchange(reader, writer)
            await exchange.ask(call, self._place.host, self._key)
            if exchange.status >= 400:
                raise calls.to_problem(exchange.status, exchange.headers, await exchange.body())
            parser = calls.EventReader()
            async for line in exchange.lines():
                event = parser.feed(line)
                if event:
                    yield event
            if not parser.ended:
                raise ConnectionFailed("the service hung up before the run had ended")
        except OSError as error:
            raise ConnectionFailed(f"{self._place} hung up: {error}") from error
        finally:
            self._live.discard(writer)
            writer.close()
