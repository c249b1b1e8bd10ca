# SPDX-License-Identifier: Apache-2.0
"""The shapes of earlier script executors, over a belljar service.

    result = await ScriptExecutor().execute("print(1)", "python", 60)
    verdict = await ScriptValidator().validate("eval('x')", "python")
    result = get_sandbox().execute("print(1)")
    with DockerExecutor() as docker:
        result = docker.execute("print(1)")
"""
from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Dict, List, Optional, Type

from .aio import AsyncClient
from .client import Client
from .types import Finding, Result

RUNTIMES = {"native": "local"}


@dataclass(frozen=True)
class ExecutionResult:
    """How a script ended. `exit_code` is -1 after a timeout, and None when nothing ran."""

    success: bool
    stdout: str
    stderr: str
    exit_code: Optional[int]
    timeout: bool
    validation_failed: bool
    validation_error: Optional[str]
    error: Optional[str]
    duration_ms: float
    runtime: str
    meta: Dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, result: Result) -> ExecutionResult:
        runtime = RUNTIMES.get(result.meta.runtime, result.meta.runtime)
        return cls(result.success, result.stdout, result.stderr,
                   -1 if result.timeout else result.exit_code, result.timeout,
                   result.validation_failed, result.validation_error, result.error,
                   result.duration_ms, runtime, {**result.raw["meta"], "runtime": runtime})

    def to_dict(self) -> Dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class ValidationResult:
    """Whether a script may run; where not, which layer of the check says so, and why."""

    valid: bool
    error: Optional[str] = None
    layer: Optional[str] = None
    findings: List[Finding] = field(default_factory=list)

    @classmethod
    def of(cls, result: Result) -> ValidationResult:
        blocking = [f for f in result.findings if f.blocks]
        return cls(not result.validation_failed, result.validation_error,
                   blocking[0].layer if result.validation_failed and blocking else None,
                   list(result.findings))


def known_language(script_type: str) -> Optional[str]:
    """The sentence that says what is wrong with @script_type; None: nothing."""
    if script_type in ("python", "bash"):
        return None
    return f"Invalid script_type: {script_type}. Must be 'python' or 'bash'"


def refused(message: str) -> ExecutionResult:
    return ExecutionResult(False, "", message, None, False, True, message, message, 0.0, "local", {})


class ScriptExecutor:
    """`await ScriptExecutor().execute(script_content, script_type, timeout)`."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None) -> None:
        self._client = AsyncClient(url, api_key)

    async def execute(self, script_content: str, script_type: str = "python",
                      timeout: float = 60) -> ExecutionResult:
        wrong = known_language(script_type)
        if wrong:
            return refused(wrong)
        return ExecutionResult.of(await self._client.run(script_content, script_type, timeout=timeout))


class ScriptValidator:
    """`await ScriptValidator().validate(script_content, script_type)`."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None) -> None:
        self._client = AsyncClient(url, api_key)

    async def validate(self, script_content: str, script_type: str = "python") -> ValidationResult:
        wrong = known_language(script_type)
        if wrong:
            return ValidationResult(False, wrong, "language")
        return ValidationResult.of(await self._client.check(script_content, script_type))


class Sandbox:
    """What `get_sandbox()` returns: `execute(code)` and wait."""

    def __init__(self, client: Client, timeout: Optional[float], **options: Any) -> None:
        self._client = client
        self._timeout = timeout
        self._options = options

    def execute(self, code: str, timeout: Optional[float] = None,
                language: str = "python") -> ExecutionResult:
        wrong = known_language(language)
        if wrong:
            return refused(wrong)
        return ExecutionResult.of(self._client.run(code, language, timeout=timeout or self._timeout,
                                                   **self._options))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def get_sandbox(timeout: Optional[float] = None, url: Optional[str] = None,
                api_key: Optional[str] = None) -> Sandbox:
    """A sandbox with the backend that the service is set to."""
    return Sandbox(Client(url, api_key), timeout)


class DockerExecutor(Sandbox):
    """A sandbox that insists on containers: a service whose backend is another refuses to run."""

    def __init__(self, timeout: Optional[float] = None, url: Optional[str] = None,
                 api_key: Optional[str] = None, **options: Any) -> None:
        super().__init__(Client(url, api_key), timeout, backend="docker", **options)

    def __enter__(self) -> DockerExecutor:
        return self
