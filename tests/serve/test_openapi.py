# SPDX-License-Identifier: Apache-2.0
"""The document at /openapi.json: sound in itself, and true: RESULT, DOCS."""
import http.client
import json
import re
import socket

import pytest
from jsonschema import Draft202012Validator

from contract import DOCUMENT, RESOLVER, check_answer, find_path

METHODS = ("get", "post", "delete", "put", "patch", "head", "options")
OPERATIONS = [(path, method) for path, item in DOCUMENT["paths"].items()
              for method in item if method in METHODS]


def walk(node):
    yield node
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    for child in children:
        yield from walk(child)


def test_it_is_served(service):
    assert service.ask("GET", "/openapi.json").json == DOCUMENT


def test_version_and_info():
    assert DOCUMENT["openapi"] == "3.1.0"
    assert {"title", "version"} <= set(DOCUMENT["info"])


def test_every_reference_leads_somewhere():
    for node in walk(DOCUMENT):
        if isinstance(node, dict) and "$ref" in node:
            RESOLVER.resolve(node["$ref"])


def test_every_schema_is_one():
    for schema in DOCUMENT["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_no_component_is_idle():
    text = json.dumps(DOCUMENT)
    for kind in ("schemas", "responses"):
        for name in DOCUMENT["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, name


def test_operations_are_described():
    ids = [DOCUMENT["paths"][path][method]["operationId"] for path, method in OPERATIONS]
    assert len(ids) == len(set(ids))
    for path, method in OPERATIONS:
        operation = DOCUMENT["paths"][path][method]
        assert operation["summary"].endswith(".")
        assert any(code.startswith("2") for code in operation["responses"])
        declared = {p["name"] for p in operation.get("parameters", []) +
                    DOCUMENT["paths"][path].get("parameters", []) if p["in"] == "path"}
        assert declared == set(re.findall(r"\{(\w+)\}", path))


@pytest.mark.parametrize("path, method", OPERATIONS)
def test_every_operation_is_there(service, path, method):
    """The document tells of nothing that the service does not do."""
    if path == "/v1/events":  # it does not end
        heard = service.events(path)
        assert next(heard) == ("ready", {})
        heard.close()
        return
    answer = service.ask(method.upper(), path.replace("{id}", "0" * 32),
                         {} if method == "post" else None)
    assert answer.status != 405
    assert answer.status != 404 or "{id}" in path


@pytest.mark.parametrize("path, method", OPERATIONS)
def test_what_is_answered_at_the_door_is_described(service, path, method):
    """A request that can be read in two ways, and one that is too large, whatever they ask for."""
    for head, status in (b"Host: y\r\n", 400), (b"Content-Length: 99999999\r\n", 413):
        with socket.socket(socket.AF_UNIX) as conn:
            conn.connect(service.socket)
            conn.sendall(f"{method.upper()} {path.replace('{id}', '0' * 32).replace('{name}', 'x')} HTTP/1.1\r\n".encode() +
                         b"Host: x\r\n" + head + b"\r\n")
            answer = http.client.HTTPResponse(conn, method=method.upper())
            answer.begin()
            assert answer.status == status
            check_answer(method, path.replace("{id}", "0" * 32), status, answer.headers["Content-Type"], answer.read())


def test_every_route_is_described(service):
    """And of all that it does: a route that is missing from the document is found here."""
    for method, path in routes():
        assert method.lower() in DOCUMENT["paths"][find_path(path)], (method, path)


def test_every_route_and_problem_is_in_the_guide():
    """DOCS: docs/http.md leaves out none."""
    guide = (service_source().parents[1] / "docs/http.md").read_text()
    table = guide.split("## What there is")[1].split("###")[0]
    for method, path in routes():
        assert any(method in row and f"{path}`" in row for row in table.splitlines()), (method, path)
    kinds = re.findall(r'= \{ "([a-z-]+)",', (service_source() / "problem.c").read_text())
    assert len(kinds) >= 10
    for kind in kinds:
        assert f"`{kind}`" in guide.split("### Problems")[1], kind


def service_source():
    from serving import TOP
    return TOP / "src/serve"


def routes():
    """[(method, path)] as they stand in the source of the service."""
    found = re.findall(r'\{ "([A-Z]+)", "(/[^"]*)",\s+\w+,', (service_source() / "routes.c").read_text())
    assert len(found) >= 10
    return found


def test_every_route_has_a_seed_for_the_fuzzer(service):
    """The fuzz target for requests starts from each route at least once, so that none is left to chance."""
    seeds = [seed.read_bytes().split(b"\n")[0].decode("latin-1").split(" ", 1)
             for seed in (service_source().parents[1] / "tests/fuzz/corpus/http").iterdir()]
    for method, path in routes():
        shape = re.escape(path).replace(r"\{id\}", "[^/]+").replace(r"\{name\}", ".+")
        assert any(s[0] == method and re.fullmatch(shape, s[-1]) for s in seeds), (method, path)
