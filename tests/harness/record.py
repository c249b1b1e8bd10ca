# SPDX-License-Identifier: Apache-2.0
"""The shape of a result: what `belljar run --json` prints, whatever happened."""
import json

STATES = {"pending", "queued", "running", "finished", "interrupted"}
CAUSES = {"exited", "signal", "timeout", "oom", "pids", "output", "seccomp", "cancelled",
          "denied", "expired", "quota", "rejected", "infrastructure"}
TEXT, OPT_TEXT = (str,), (str, type(None))
NUMBER, OPT_INT = (int, float), (int, type(None))

SHAPE = {
    "id": TEXT, "state": TEXT, "cause": TEXT, "success": (bool,), "stdout": TEXT, "stderr": TEXT,
    "exit_code": OPT_INT, "signal": OPT_INT, "timeout": (bool,), "validation_failed": (bool,),
    "validation_error": OPT_TEXT, "error": OPT_TEXT, "findings": (list,), "risk": (dict,),
    "duration_ms": NUMBER, "usage": (dict,), "meta": (dict,),
}
USAGE = {"cpu_ms": NUMBER, "peak_memory_bytes": NUMBER}
META = {
    "runtime": TEXT, "blocked_imports": (list,), "truncated": (dict,), "stdout_bytes": (int,),
    "stderr_bytes": (int,), "resource_limits": (dict,), "cleanup_success": (bool,),
    "policy": TEXT, "trusted": (bool,), "isolation": (dict,),
}


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


def _no_twice(pairs):
    keys = [k for k, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"a key stands twice: {keys}")
    return dict(pairs)


def _check(where, value, shape):
    for key, types in shape.items():
        assert key in value, f"{where}{key} is missing"
        assert isinstance(value[key], types), f"{where}{key} is {value[key]!r}"
        if bool not in types:
            assert not isinstance(value[key], bool), f"{where}{key} is a boolean"


def parse(data):
    """One object on one line, as bytes, strictly read and checked against the shape."""
    text = data.decode("utf-8")
    assert text.endswith("\n") and text.count("\n") == 1, f"not one line: {text[-200:]!r}"
    record = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_twice)
    check(record)
    return record


def check(record):
    """The record has every field, and its fields do not contradict each other."""
    _check("", record, SHAPE)
    _check("usage.", record["usage"], USAGE)
    _check("meta.", record["meta"], META)
    cause = record["cause"]
    assert record["state"] in STATES and cause in CAUSES, (record["state"], cause)
    assert record["risk"]["level"] in ("low", "medium", "high", "critical")
    assert isinstance(record["risk"]["reasons"], list)
    assert record["timeout"] == (cause == "timeout")
    assert record["success"] == (cause == "exited" and record["exit_code"] == 0)
    if cause == "exited":
        assert 0 <= record["exit_code"] <= 255 and record["signal"] is None
    if cause == "signal":
        assert 1 <= record["signal"] <= 64 and record["exit_code"] is None
    if cause in ("rejected", "infrastructure"):
        assert record["exit_code"] is None and record["error"]
