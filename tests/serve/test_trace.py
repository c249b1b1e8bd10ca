# SPDX-License-Identifier: Apache-2.0
"""DS-MON: traces as OTLP over HTTP, to a small collector of the test's own."""
import http.server
import json
import queue
import re
import threading

import pytest


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
    assert [s["name"] for s in steps] == ["queue", "check", "approve", "run", "record"]
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
