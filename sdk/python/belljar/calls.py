# SPDX-License-Identifier: Apache-2.0
"""Every call of the service as a plain value: what to send, and how to read the answer.

The two clients differ only in how they carry these.
"""
from __future__ import annotations

import base64
import json
import urllib.parse
from dataclasses import dataclass, field
from typing import (Any, Callable, Dict, Generic, Iterable, List, Mapping, Optional, Sequence, Tuple,
                    TypeVar, Union)

from .errors import ApprovalNeeded, ConnectionFailed, Problem
from .types import Event, Execution, ExecutionPage, Result, ToolAnswer

T = TypeVar("T")
Headers = Mapping[str, str]
Files = Mapping[str, Union[str, bytes]]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request. @read makes the answer of a body."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Optional[bytes] = None
    headers: Headers = field(default_factory=dict)


def bytes_field(value: Union[str, bytes]) -> Dict[str, str]:
    if isinstance(value, str):
        return {"text": value}
    return {"base64": base64.b64encode(value).decode()}


def order(script: str, language: str, *, args: Optional[Sequence[str]] = None,
          timeout: Union[float, str, None] = None, memory: Union[int, str, None] = None,
          cpus: Optional[float] = None, pids: Optional[int] = None,
          stdin: Union[str, bytes, None] = None, env: Optional[Mapping[str, str]] = None,
          files: Optional[Files] = None, profile: Optional[str] = None,
          policy: Optional[str] = None, **more: Any) -> Dict[str, Any]:
    """The body of a run. What is None is left to the service; @more goes along as it is."""
    body: Dict[str, Any] = {"script": script, "language": language, "timeout": timeout,
                            "memory": memory, "cpus": cpus, "pids": pids, "profile": profile,
                            "policy": policy, **more}
    if args is not None:
        body["args"] = list(args)
    if stdin is not None:
        body["stdin"] = bytes_field(stdin)
    if env is not None:
        body["env"] = dict(env)
    if files is not None:
        body["files"] = [{"name": name, **bytes_field(data)} for name, data in files.items()]
    return {name: value for name, value in body.items() if value is not None}


def post(path: str, body: Mapping[str, Any], read: Callable[[Any], T],
         headers: Optional[Headers] = None) -> Call[T]:
    return Call("POST", path, read, json.dumps(body).encode(),
                {"Content-Type": "application/json", **(headers or {})})


def result_of(o: Mapping[str, Any]) -> Result:
    if o.get("state") == "pending":
        raise ApprovalNeeded(o["id"])
    return Result.read(o)


def run(body: Mapping[str, Any], key: Optional[str]) -> Call[Result]:
    return post("/v1/executions", body, result_of, {"Idempotency-Key": key} if key else None)


def start(body: Mapping[str, Any], key: Optional[str]) -> Call[Execution]:
    headers = {"Prefer": "respond-async", **({"Idempotency-Key": key} if key else {})}
    return post("/v1/executions", body, Execution.read, headers)


def stream(body: Mapping[str, Any]) -> Call[None]:
    return post("/v1/executions", body, lambda _: None, {"Accept": "text/event-stream"})


def check(body: Mapping[str, Any]) -> Call[Result]:
    return post("/v1/check", body, Result.read)


def execution_path(run_id: str, *rest: str) -> str:
    return "/".join(["/v1/executions", urllib.parse.quote(run_id, safe=""), *rest])


def get(run_id: str) -> Call[Execution]:
    return Call("GET", execution_path(run_id), Execution.read)


def cancel(run_id: str) -> Call[Execution]:
    return Call("DELETE", execution_path(run_id), Execution.read)


def approve(run_id: str, body: Mapping[str, Any]) -> Call[Mapping[str, Any]]:
    return post(execution_path(run_id, "approve"), body, dict)


def deny(run_id: str, reason: str) -> Call[Mapping[str, Any]]:
    return post(execution_path(run_id, "deny"), {"reason": reason}, dict)


def events(run_id: str) -> Call[None]:
    return Call("GET", execution_path(run_id, "events"), lambda _: None)


def listing(query: Mapping[str, Any]) -> Call[ExecutionPage]:
    text = urllib.parse.urlencode({k: v for k, v in query.items() if v is not None})
    return Call("GET", "/v1/executions" + ("?" + text if text else ""), ExecutionPage.read)


def tools(form: str) -> Call[List[Dict[str, Any]]]:
    return Call("GET", "/v1/tools?" + urllib.parse.urlencode({"format": form}),
                lambda o: [dict(tool) for tool in o["tools"]])


def call_tool(name: str, arguments: Mapping[str, Any]) -> Call[ToolAnswer]:
    return post("/v1/tools/" + urllib.parse.quote(name, safe=""), arguments, ToolAnswer.read)


def plain(path: str) -> Call[Dict[str, Any]]:
    return Call("GET", path, dict)


# --- answers ---------------------------------------------------------------------------------


def to_problem(status: int, headers: Headers, body: bytes) -> Problem:
    try:
        value = json.loads(body)
    except ValueError:
        value = {"detail": body[:200].decode("utf-8", "replace")}
    wait = headers.get("retry-after")
    return Problem(status, value if isinstance(value, dict) else {},
                   float(wait) if wait and wait.isdigit() else None)


def read_answer(call: Call[T], status: int, headers: Headers, body: bytes) -> T:
    """The value of an answer; Problem when the service says no."""
    if status >= 400:
        raise to_problem(status, headers, body)
    try:
        return call.read(json.loads(body))
    except (ValueError, KeyError, TypeError) as error:
        raise ConnectionFailed(f"the answer to {call.path} is not one of belljar: {error}") from error


class EventReader:
    """Lines of a server-sent event stream in, events out."""

    def __init__(self) -> None:
        self._name = "message"
        self._data: List[str] = []
        self.ended = False
        """The last event of a run has come."""

    def feed(self, line: str) -> Optional[Event]:
        """Take one line without its end; the event that it completes."""
        if line == "":
            return self._finish()
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None

    def _finish(self) -> Optional[Event]:
        name, text = self._name, "\n".join(self._data)
        self._name, self._data = "message", []
        if not text:
            return None
        try:
            value = json.loads(text)
        except ValueError as error:
            raise ConnectionFailed(f"an event is not JSON: {error}") from error
        if name == "problem":
            raise Problem(int(value.get("status", 500)), value)
        self.ended = name == "result"
        return Event.read(name, value)


def tell_output(event: Event, on_stdout: Optional[Callable[[str], None]],
                on_stderr: Optional[Callable[[str], None]]) -> None:
    """Hand the output in @event to whoever wants it."""
    if event.kind == "stdout" and on_stdout:
        on_stdout(event.text)
    elif event.kind == "stderr" and on_stderr:
        on_stderr(event.text)


def request_head(call: Call[Any], host: str, key: Optional[str]) -> Iterable[Tuple[str, str]]:
    """The headers of a request over a connection of its own."""
    yield "Host", host
    if key:
        yield "Authorization", f"Bearer {key}"
    yield from call.headers.items()
    if call.body is not None:
        yield "Content-Length", str(len(call.body))
