# SPDX-License-Identifier: Apache-2.0
"""The objects of the service as frozen dataclasses. What a newer service adds stays in `raw`."""
from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """Something the check found in a script. Lines and columns count from 1; 0: the whole script."""

    layer: str
    rule: str
    severity: str
    message: str
    line: int
    column: int
    end_column: int
    blocks: bool
    source: Optional[str]

    @classmethod
    def read(cls, o: Object) -> Finding:
        return cls(o["layer"], o["rule"], o["severity"], o["message"], o["line"], o["column"],
                   o["end_column"], o["blocks"], o["source"])

    def __str__(self) -> str:
        return f"line {self.line}: {self.severity}: {self.message} [{self.rule}]"


@dataclass(frozen=True)
class Risk:
    """Of the script by itself, and the higher of that and what its tool declares."""

    level: str
    effective: str
    reasons: Tuple[str, ...]

    @classmethod
    def read(cls, o: Object) -> Risk:
        return cls(o["level"], o["effective"], tuple(o["reasons"]))


@dataclass(frozen=True)
class Decision:
    """What a person decided about a run that needed approval: approved, denied or expired."""

    decision: str
    by: Optional[str]
    reason: Optional[str]
    decided_ms: int

    @classmethod
    def read(cls, o: Object) -> Decision:
        return cls(o["decision"], o["by"], o["reason"], o["decided_ms"])


@dataclass(frozen=True)
class Usage:
    cpu_ms: float
    peak_memory_bytes: int

    @classmethod
    def read(cls, o: Object) -> Usage:
        return cls(o["cpu_ms"], o["peak_memory_bytes"])


@dataclass(frozen=True)
class Limits:
    memory_bytes: int
    cpus: float
    pids: int
    timeout_seconds: float
    tmp_bytes: int
    max_output_bytes: int
    output_cap_bytes: int

    @classmethod
    def read(cls, o: Object) -> Limits:
        return cls(o["memory_bytes"], o["cpus"], o["pids"], o["timeout_seconds"], o["tmp_bytes"],
                   o["max_output_bytes"], o["output_cap_bytes"])


@dataclass(frozen=True)
class Isolation:
    """What was really enforced."""

    layers: Mapping[str, bool]
    cgroup: str
    uid: str
    landlock_abi: int

    @classmethod
    def read(cls, o: Object) -> Isolation:
        return cls(dict(o["layers"]), o["cgroup"], o["uid"], o["landlock_abi"])


@dataclass(frozen=True)
class Meta:
    runtime: str
    policy: str
    warm: bool
    trusted: bool
    blocked_imports: Tuple[str, ...]
    truncated_stdout: bool
    truncated_stderr: bool
    stdout_bytes: int
    stderr_bytes: int
    limits_asked: Limits
    limits: Limits
    cleanup_success: bool
    isolation: Isolation

    @classmethod
    def read(cls, o: Object) -> Meta:
        limits = o["resource_limits"]
        return cls(o["runtime"], o["policy"], o["warm"], o["trusted"], tuple(o["blocked_imports"]),
                   o["truncated"]["stdout"], o["truncated"]["stderr"], o["stdout_bytes"],
                   o["stderr_bytes"], Limits.read(limits["asked"]), Limits.read(limits["effective"]),
                   o["cleanup_success"], Isolation.read(o["isolation"]))


@dataclass(frozen=True)
class Result:
    """What happened. `success` is true only for a script that ran and exited with 0; `cause` says how
    it ended: exited, signal, timeout, oom, pids, output, seccomp, cancelled, denied, expired, quota,
    rejected, infrastructure; None while it waits for approval (state pending)."""

    id: str
    state: str
    cause: Optional[str]
    success: bool
    language: str
    stdout: str
    stderr: str
    exit_code: Optional[int]
    signal: Optional[int]
    timeout: bool
    validation_failed: bool
    validation_error: Optional[str]
    error: Optional[str]
    findings: Tuple[Finding, ...]
    risk: Risk
    decision: Optional[Decision]
    script_sha256: str
    started_ms: int
    duration_ms: float
    usage: Usage
    meta: Meta
    raw: Object = field(repr=False, compare=False)

    @classmethod
    def read(cls, o: Object) -> Result:
        return cls(o["id"], o["state"], o["cause"], o["success"], o["language"], o["stdout"],
                   o["stderr"], o["exit_code"], o["signal"], o["timeout"], o["validation_failed"],
                   o["validation_error"], o["error"], tuple(map(Finding.read, o["findings"])),
                   Risk.read(o["risk"]), Decision.read(o["decision"]) if o["decision"] else None,
                   o["script_sha256"], o["started_ms"], o["duration_ms"], Usage.read(o["usage"]),
                   Meta.read(o["meta"]), o)

    def raise_for_cause(self) -> Result:
        """This result, or a RuntimeError with its message when the script did not succeed."""
        if not self.success:
            raise RuntimeError(self.error or self.stderr or f"the script ended by {self.cause}")
        return self


@dataclass(frozen=True)
class Execution:
    """A run as the service lists it; `result` is there once it has ended and was asked for."""

    id: str
    state: str
    cause: Optional[str]
    language: str
    success: Optional[bool]
    created_ms: int
    started_ms: Optional[int]
    ended_ms: Optional[int]
    exit_code: Optional[int]
    duration_ms: Optional[float]
    cpu_ms: Optional[float]
    peak_memory_bytes: Optional[int]
    result: Optional[Result]
    raw: Object = field(repr=False, compare=False)

    @classmethod
    def read(cls, o: Object) -> Execution:
        result = o.get("result")
        return cls(o["id"], o["state"], o["cause"], o["language"], o["success"], o["created_ms"],
                   o["started_ms"], o["ended_ms"], o["exit_code"], o["duration_ms"], o["cpu_ms"],
                   o["peak_memory_bytes"], Result.read(result) if result else None, o)

    @property
    def ended(self) -> bool:
        return self.state in ("finished", "interrupted")


@dataclass(frozen=True)
class ExecutionPage:
    """One page of the list, the newest first. `next` goes to `list(before=...)`; None: it was the last."""

    executions: Tuple[Execution, ...]
    next: Optional[str]

    @classmethod
    def read(cls, o: Object) -> ExecutionPage:
        return cls(tuple(map(Execution.read, o["executions"])), o["next"])


@dataclass(frozen=True)
class ToolAnswer:
    """What came of a call of a tool: `text` for a model, `result` the same for a program."""

    failed: bool
    text: str
    result: Object

    @classmethod
    def read(cls, o: Object) -> ToolAnswer:
        return cls(o["failed"], o["text"], o["result"])


@dataclass(frozen=True)
class Event:
    """One event of a run. `kind`: state, stdout, stderr, gap, result, or what a newer service sends.

    `data` holds the bytes of stdout and stderr, `text` the same as text; `result` is set in the last
    event; `raw` is the object as it came.
    """

    kind: str
    data: bytes
    result: Optional[Result]
    raw: Object

    @classmethod
    def read(cls, kind: str, o: Object) -> Event:
        data = b""
        if kind in ("stdout", "stderr"):
            data = base64.b64decode(o["base64"]) if "base64" in o else str(o["text"]).encode()
        return cls(kind, data, Result.read(o) if kind == "result" else None, o)

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def state(self) -> Optional[str]:
        return self.raw.get("state") if self.kind == "state" else None
