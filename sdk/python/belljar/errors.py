# SPDX-License-Identifier: Apache-2.0
"""What can go wrong between a program and the service. A script that fails is no error: it is a result."""
from __future__ import annotations

from typing import Any, Mapping, Optional


class BelljarError(Exception):
    """The base of every error of this package."""


class ConnectionFailed(BelljarError):
    """The service cannot be reached, or it went away before it had answered."""


class ApprovalNeeded(BelljarError):
    """A person has to decide about this run first. `run_id` is its id: `wait(run_id)` waits for the decision
    and the end."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"run {run_id} waits for approval; decide with: belljar approve {run_id}")


class Problem(BelljarError):
    """The service answered with problem details (RFC 9457)."""

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        self.status = status
        self.type = str(body.get("type", "about:blank"))
        self.title = str(body.get("title", ""))
        self.detail = str(body.get("detail", ""))
        self.retry_after = retry_after
        """Seconds to wait before the same request may work; None: it will not."""
        result = body.get("result")
        self.result: Optional[Mapping[str, Any]] = result if isinstance(result, Mapping) else None
        """What is known of a run that belljar could not make, as the plain object."""
        super().__init__(f"{self.title}: {self.detail}" if self.title else f"status {status}")

    @property
    def kind(self) -> str:
        """The last part of the type: queue-full, loosens, not-found..."""
        return self.type.rpartition(":")[2]
