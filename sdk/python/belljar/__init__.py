# SPDX-License-Identifier: Apache-2.0
"""Run Python and Bash scripts sealed off from the machine, through a belljar service.

    import belljar

    with belljar.Client() as jar:
        result = jar.run("print(6 * 7)")
        print(result.stdout, result.cause)

`AsyncClient` is the same with await. `belljar.tools` makes tools for agent frameworks, and
`belljar.compat` has the shapes of earlier script executors.
"""
from .aio import AsyncClient
from .client import Client
from .compat import (DockerExecutor, ExecutionResult, ScriptExecutor, ScriptValidator, ValidationResult,
                     get_sandbox)
from .errors import ApprovalNeeded, BelljarError, ConnectionFailed, Problem
from .types import (Decision, Event, Execution, ExecutionPage, Finding, Isolation, Limits, Meta, Result,
                    Risk, ToolAnswer, Usage)

__version__ = "0.1.0"

__all__ = [
    "ApprovalNeeded", "AsyncClient", "BelljarError", "Client", "ConnectionFailed", "Decision", "DockerExecutor", "Event",
    "Execution", "ExecutionPage", "ExecutionResult", "Finding", "Isolation", "Limits", "Meta",
    "Problem", "Result", "Risk", "ScriptExecutor", "ScriptValidator", "ToolAnswer",
    "Usage", "ValidationResult", "get_sandbox",
]
