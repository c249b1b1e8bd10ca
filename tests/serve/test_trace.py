# SPDX-License-Identifier: Apache-2.0
"""DS-MON: traces as OTLP over HTTP, to a small collector of the test's own."""
import http.server
import json
import queue
import re
import subprocess
import threading

import pytest

from serving import BELLJAR


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.gate.wait(30)
        self.server.got.put((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def collector():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    server.got, server.status, server.gate = queue.Queue(), 200, threading.Event()
    server.gate.set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.gate.set()
    server.shutdown()
    server.server_close()


def service_for(serve, collector):
    return serve(env={"OTEL_EXPORTER_OTLP_ENDPOINT":
                      f"http://127.0.0.1:{collector.server_address[1]}"}).ready()


def spans_of(body):
    resource, = body["resourceSpans"]
    names = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}
    assert names["service.name"] == "belljar"
    return resource["scopeSpans"][0]["spans"]


def test_spans_of_a_run(serve, collector):
    it = service_for(serve, collector)
    parent = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    result = it.run("print(1)", headers={"traceparent": parent}).json
    path, kind, body = collector.got.get(timeout=20)
    assert (path, kind) == ("/v1/traces", "application/json")
    root, *steps = spans_of(body)
    assert (root["name"], root["traceId"], root["parentSpanId"]) == ("request", "ab" * 16, "cd" * 8)
    attributes = {a["key"]: a["value"]["stringValue"] for a in root["attributes"]}
    assert attributes["belljar.run.id"] == result["id"]
    assert (attributes["belljar.cause"], attributes["belljar.backend"]) == ("exited", "native")
    assert [s["name"] for s in steps] == ["quota", "queue", "check", "approve", "run", "record"]
    last = int(root["startTimeUnixNano"])
    for step in steps:
        assert step["traceId"] == root["traceId"] and step["parentSpanId"] == root["spanId"]
        assert re.fullmatch("[0-9a-f]{16}", step["spanId"])
        assert last <= int(step["startTimeUnixNano"]) <= int(step["endTimeUnixNano"])
        last = int(step["endTimeUnixNano"])
    assert last <= int(root["endTimeUnixNano"])
    # A parent that is none is ignored.
    it.run("print(1)", headers={"traceparent": "nonsense"})
    root = spans_of(collector.got.get(timeout=20)[2])[0]
    assert "parentSpanId" not in root and root["traceId"] != "ab" * 16
    assert "print" not in json.dumps(body)


def attributes_of(span):
    return {a["key"]: a["value"]["stringValue"] for a in span["attributes"]}


def next_trace(collector):
    root, *steps = spans_of(collector.got.get(timeout=20)[2])
    return attributes_of(root), [s["name"] for s in steps]


def test_every_way_to_a_run_is_traced(serve, collector):
    """DS-MON: checks, tools, runs that a person let begin, and requests that came to nothing."""
    it = service_for(serve, collector)
    it.ask("POST", "/v1/check", {"script": "print(1)", "language": "python"})
    seen, steps = next_trace(collector)
    assert (seen["http.route"], steps) == ("/v1/check", ["queue", "check", "run"])
    it.ask("POST", "/v1/tools/run_python_code", {"code": "print(1)"})
    seen, steps = next_trace(collector)
    assert seen["belljar.tool"] == "run_python_code" and "run" in steps
    run = it.run("print(1)", headers={"Belljar-Agent": "tester"}).json["id"]
    seen, steps = next_trace(collector)
    assert (seen["http.response.status_code"], steps[-1]) == ("202", "approve") and "belljar.cause" not in seen
    it.ask("POST", f"/v1/executions/{run}/approve")
    seen, steps = next_trace(collector)
    assert (seen["belljar.run.id"], seen["belljar.cause"]) == (run, "exited")
    assert steps == ["quota", "queue", "check", "approve", "run", "record"]
    it.run("password = 'hunter2hunter2'")
    seen, steps = next_trace(collector)
    assert seen["belljar.cause"] == "rejected" and "approve" not in steps


def test_over_quota_is_traced(serve, collector):
    it = service_for(serve, collector)
    for args in (("tenant", "add", "poor", "runs_per_minute=1"), ("key", "add", "--tenant", "poor")):
        key = subprocess.run([BELLJAR, *args], env=it.env, capture_output=True, text=True, check=True).stdout.strip()
    head = {"Authorization": f"Bearer {key}", "Prefer": "respond-async"}
    for status in ("202", "429"):
        it.run("echo 1", "bash", headers=head)
        seen, steps = next_trace(collector)
        assert (seen["belljar.tenant"], seen["http.response.status_code"]) == ("poor", status)
    assert steps == ["quota"]


def test_a_trace_that_nobody_records_is_not_sent(serve, collector):
    it = service_for(serve, collector)
    for flags in ("00", "01"):
        it.run("echo 1", "bash", headers={"traceparent": "00-" + ("ab" + flags) * 8 + "-" + "cd" * 8 + "-" + flags})
    root = spans_of(collector.got.get(timeout=20)[2])[0]
    assert root["traceId"] == "ab01" * 8 and collector.got.empty()


def test_a_slow_collector_costs_spans_not_runs(serve, collector):
    collector.gate.clear()
    it = service_for(serve, collector)
    for _ in range(5):
        assert it.run("echo 1", "bash").status == 200
    collector.gate.set()
    collector.status = 500
    while it.metrics()["belljar_trace_spans_dropped_total"] == 0:
        it.run("echo 1", "bash")
    assert it.metrics()["belljar_trace_spans_sent_total"] >= 0


def test_a_wrong_endpoint_is_refused(serve):
    it = serve(env={"BELLJAR_TRACE_ENDPOINT": "ftp://127.0.0.1"})
    assert it.process.wait(20) != 0
    assert "trace.endpoint" in it.said()
