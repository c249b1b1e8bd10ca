# SPDX-License-Identifier: Apache-2.0
"""share/openapi.json as a judge: every answer that the tests get is held against it."""
import json
import pathlib
import re

from jsonschema import Draft202012Validator, RefResolver

TOP = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((TOP / "share/openapi.json").read_text())
RESOLVER = RefResolver.from_schema(DOCUMENT)


def resolve(node):
    while "$ref" in node:
        node = RESOLVER.resolve(node["$ref"])[1]
    return node


def validate(schema, value):
    Draft202012Validator(schema, resolver=RESOLVER).validate(value)


def schema_of(name):
    return {"$ref": f"#/components/schemas/{name}"}


def find_path(path):
    """The path of the document that the path of a request belongs to; None: there is none."""
    plain = path.split("?")[0]
    for pattern in DOCUMENT["paths"]:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern.replace("{name}", ".+")), plain):
            return pattern
    return None


def check_answer(method, path, status, content_type, body):
    """Fail when an answer is not one that the document tells of."""
    pattern = find_path(path)
    operation = DOCUMENT["paths"].get(pattern, {}).get(method.lower())
    if operation is None:
        assert status in (401, 403, 404, 405), (method, path, status)
        validate(schema_of("Problem"), json.loads(body))
        assert content_type == "application/problem+json"
        return
    assert str(status) in operation["responses"], f"{method} {path} answered {status}: {body[:300]}"
    content = resolve(operation["responses"][str(status)]).get("content", {})
    if not content:
        assert (content_type, body) == (None, b"")
        return
    assert content_type in content, (method, path, status, content_type)
    if "json" in content_type:
        validate(content[content_type]["schema"], json.loads(body))
    if content_type == "application/problem+json":
        assert json.loads(body)["status"] == status


def check_event(name, data):
    """Fail when an event is not as described."""
    if name in ("stdout", "stderr"):
        assert list(data) in (["text"], ["base64"])
    elif name == "result":
        validate(schema_of("Result"), data)
    elif name == "problem":
        validate(schema_of("Problem"), data)
    elif name == "sample":
        assert set(data) == {"elapsed_ms", "cpu_ms", "memory_bytes"} and min(data.values()) >= 0
    elif name in ("ready", "behind"):
        assert data == {}
    elif name == "execution":
        assert set(data) == {"id", "state"}
        validate(schema_of("State"), data["state"])
    elif name == "state":
        validate(schema_of("State"), data["state"])
    else:
        assert name == "gap" and data["bytes"] > 0
