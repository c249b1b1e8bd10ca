# SPDX-License-Identifier: Apache-2.0
"""Runs that nobody waits for, their events, their list: RESULT, SX-OUT."""
import base64
import json
import socket
import threading
import time

import pytest


def test_respond_async(service):
    """RESULT: 202 with state and id, then the result."""
    answer = service.run("echo hi", "bash", headers={"Prefer": "respond-async"})
    assert answer.status == 202
    run = answer.json["id"]
    assert answer.headers["Location"] == f"/v1/executions/{run}"
    ended = service.ended(run)
    assert ended["state"] == "finished"
    assert ended["result"]["stdout"] == "hi\n"
    assert ended["result"]["id"] == run


@pytest.mark.parametrize("name, other, asked, status", [
    ("Prefer", "wait=1", "respond-async", 202), ("Accept", "application/json", "text/event-stream", 200)])
def test_a_header_of_several_lines_is_one_list(service, name, other, asked, status):
    """RFC 9110: a proxy may write it either way."""
    body = b'{"script": "echo hi", "language": "bash"}'
    conn = service.connect()
    conn.putrequest("POST", "/v1/executions")
    for value in other, asked:
        conn.putheader(name, value)
    conn.putheader("Content-Type", "application/json")
    conn.putheader("Content-Length", str(len(body)))
    conn.endheaders(body)
    answer = conn.getresponse()
    assert answer.status == status
    assert answer.headers["Content-Type"] == (asked if status == 200 else "application/json")
    answer.read()
    conn.close()


@pytest.mark.parametrize("accept, streams", [
    ("text/event-stream", True), ("TEXT/Event-Stream ; Q=0.001", True), ("text/event-stream;charset=utf-8;q=1.000", True),
    ("text/event-stream;q=0", False), ("text/event-stream; q=0.000", False), ("text/event-stream;q=0, */*", False),
    ("application/json, text/event-stream", True), ("text/event-stream, application/json", True),
    ("application/json, text/event-stream;q=0.9", False), ("application/json;q=0.8, text/event-stream;q=0.9", True),
    ("text/event-stream;q=0.5, application/*;q=0.6", False), ("text/event-stream;q=0.5, */*;q=0.1", True),
    ("text/event-stream;q=0.5, */*;q=0.9, application/json;q=0.1", True), ("text/*", False), ("*/*", False), ("", False),
    ('text/plain;a=",text/event-stream,"', False), ('text/event-stream;a="\\",q=0;q=0";q=0.7', True),
    ("application/json;q=0, text/event-stream;q=0.1", True), ("text/event-streams", False), ("text/event-stream;xq=0", True)])
def test_the_answer_that_is_wanted_most(service, accept, streams):
    """RFC 9110, 12.4.2: a weight of 0 is a no, and the larger one of two wins; of equals the one that was named here."""
    answer = service.run("echo hi", "bash", headers={"Accept": accept})
    assert answer.status == 200
    assert answer.headers["Content-Type"] == ("text/event-stream" if streams else "application/json")


def test_events_come_as_they_happen(service):
    """RESULT: output is a stream of events before it is a string."""
    run = service.start("echo one; read -r -t 30 line < /dev/zero; echo two >&2; exit 4", timeout=20)
    seen = []
    for name, data in service.events(f"/v1/executions/{run}/events"):
        seen.append((name, data))
        if name == "stdout":
            # The script still runs when its first line arrives.
            assert service.ask("GET", f"/v1/executions/{run}").json["state"] == "running"
            service.ask("DELETE", f"/v1/executions/{run}")
    assert ("stdout", {"text": "one\n"}) in seen
    assert seen[-1][0] == "result"
    assert seen[-1][1]["cause"] == "cancelled"


def test_late_subscribers_get_what_was_kept(service):
    """RESULT"""
    run = service.start("echo a; echo b >&2")
    service.ended(run)
    events = list(service.events(f"/v1/executions/{run}/events"))
    assert [name for name, _ in events if name != "state"] in (
        ["stdout", "stderr", "result"], ["stderr", "stdout", "result"])


def raw_events(service, path, last=None, until=None, **post):
    """(id, name, data) of each event as it stands there; up to @until of them, then the connection is broken."""
    conn = service.connect()
    conn.request("POST" if post else "GET", path, **post, headers={**post.pop("headers", {}), **({"Last-Event-ID": last} if last else {})})
    response = conn.getresponse()
    assert response.status == 200, response.read()
    found, event = [], {}
    while until is None or len(found) < until:
        line = response.readline().decode()
        if not line:
            break
        if line == "\n" and event:
            found.append((event["id"], event["event"], event["data"]))
            event = {}
        elif not line.startswith(":") and line != "\n":
            name, _, value = line.rstrip("\n").partition(": ")
            assert name not in event
            event[name] = value
    conn.close()
    return found


def test_a_reader_goes_on_where_it_was(service):
    """Broken off after any event and taken up again with its id: no event twice, and none is missing."""
    run = service.start("for i in 1 2 3 4 5; do printf '%s\\n\\n' $i; printf 'id: %s\\n\\n' $i >&2; read -t 0.05 < /dev/zero; done")
    path = f"/v1/executions/{run}/events"
    live, last = [], None
    while not live or live[-1][1] != "result":
        live += raw_events(service, path, last, until=1)
        last = live[-1][0]
    whole = raw_events(service, path)
    assert live == whole
    assert len({event[0] for event in whole}) == len(whole) > 10
    for at, event in enumerate(whole[:-1]):
        assert raw_events(service, path, event[0]) == whole[at + 1:]
    end = service.ask("GET", path, headers={"Last-Event-ID": last})
    assert (end.status, end.body) == (204, b"")


def test_a_reader_who_stayed_away_too_long_is_told(serve):
    """What is kept no more cannot come: the gap between says how much that was."""
    it = serve(config="serve: {keep_output: 32KiB}\n").ready()
    run = it.start("read -t 0.5 < /dev/zero; for ((i = 1; i <= 20000; i++)); do echo line $i; done", timeout=50)
    first = raw_events(it, f"/v1/executions/{run}/events", until=1)[0]
    it.ended(run)
    rest = raw_events(it, f"/v1/executions/{run}/events", first[0])
    assert [event[1] for event in rest[:2]] == ["gap", "stdout"] and rest[-1][1] == "result"
    assert raw_events(it, f"/v1/executions/{run}/events", rest[0][0]) == rest[1:]


@pytest.mark.parametrize("last", ["1", "x", "-", "%s-1", "%s-99999999", "%s-18446744073709551617", "%s--1", "%s-0", "0%s-41", "%s-41x"])
def test_ids_of_no_event(service, last):
    run = service.start("echo x")
    path = f"/v1/executions/{run}/events"
    service.ended(run)
    life = raw_events(service, path, until=1)[0][0].split("-")[0]
    answer = service.ask("GET", path, headers={"Last-Event-ID": last.replace("%s", life)})
    assert answer.status == 400 and "Last-Event-ID" in answer.json["detail"]


def test_the_end_of_a_run_is_not_known_before(service):
    """An id past what there is, while the run goes on: refused, not a place to wait at."""
    run = service.start("echo x; sleep 20")
    path = f"/v1/executions/{run}/events"
    life, at = raw_events(service, path, until=2)[1][0].split("-")
    assert service.ask("GET", path, headers={"Last-Event-ID": f"{life}-{int(at) + 1}"}).status == 400
    service.ask("DELETE", f"/v1/executions/{run}")


def test_bytes_that_are_no_text_come_as_base64(service):
    """SCRP-08: no byte is lost."""
    run = service.start(r"printf '\377\000a'")
    data = dict(service.events(f"/v1/executions/{run}/events"))["stdout"]
    assert base64.b64decode(data["base64"]) == b"\xff\x00a"


def test_old_events_are_dropped_and_told(serve):
    """SX-OUT: the list of events is bounded."""
    it = serve(config="serve: {keep_output: 32KiB}\n").ready()
    run = it.start("for ((i = 1; i <= 20000; i++)); do echo line $i; done", timeout=50)
    it.ended(run)
    events = list(it.events(f"/v1/executions/{run}/events"))
    assert events[0][0] == "gap"
    assert events[-1][0] == "result"
    text = "".join(data["text"] for name, data in events if name == "stdout")
    assert 0 < len(text) < 80000
    assert text.endswith("line 20000\n")


def test_stream_of_a_post_has_every_byte(service):
    """SX-OUT: the script waits for a reader who wants it all."""
    script = "for i in range(60000): print('x' * 50, i)"
    text = "".join(
        data["text"] for name, data in service.events(
            "/v1/executions", "POST", {"script": script, "language": "python"},
            {"Accept": "text/event-stream"}) if name == "stdout")
    assert text == "".join(f"{'x' * 50} {i}\n" for i in range(60000))


def test_delete_cancels(service):
    """SCRP-07"""
    run = service.start("sleep 60")
    service.wait_state(run, "running")
    answer = service.ask("DELETE", f"/v1/executions/{run}")
    assert answer.status == 200
    assert (answer.json["state"], answer.json["cause"]) == ("finished", "cancelled")
    assert service.ask("DELETE", f"/v1/executions/{run}").status == 409


def test_a_client_that_goes_away_cancels_its_run(service):
    """DS-CLEAN: nobody waits for the answer, so nobody pays for the run."""
    before = service.metrics()['belljar_runs_total{backend="native",cause="cancelled"}']
    conn = service.connect()
    conn.request("POST", "/v1/executions", body='{"script":"sleep 60","language":"bash"}',
                 headers={"Content-Type": "application/json"})
    run = None
    while not run:
        running = service.ask("GET", "/v1/executions?state=running").json["executions"]
        run = running[0]["id"] if running else None
    conn.close()
    ended = service.ended(run)
    assert ended["cause"] == "cancelled"
    assert ended["duration_ms"] < 20000
    assert service.metrics()['belljar_runs_total{backend="native",cause="cancelled"}'] == before + 1


def test_a_reader_of_the_stream_that_goes_away_cancels_its_run(service):
    events = service.events("/v1/executions", "POST", {"script": "sleep 60", "language": "bash"},
                            {"Accept": "text/event-stream"})
    next(events)
    run = service.ask("GET", "/v1/executions?state=running").json["executions"][0]["id"]
    events.close()
    del events
    assert service.ended(run)["cause"] == "cancelled"


def test_a_client_that_goes_away_leaves_async_runs_alone(service):
    run = service.start("sleep 0.3; echo done")
    assert service.ended(run)["result"]["stdout"] == "done\n"


def test_list_filters_and_pages(serve):
    it = serve().ready()
    for i in range(5):
        it.run(f"exit {i}", "bash")
    it.run("print(1)")
    everything = it.ask("GET", "/v1/executions").json
    assert len(everything["executions"]) == 6
    assert everything["next"] is None
    assert everything["executions"][0]["language"] == "python"
    bash = it.ask("GET", "/v1/executions?language=bash").json["executions"]
    assert [run["exit_code"] for run in bash] == [4, 3, 2, 1, 0]
    assert it.ask("GET", "/v1/executions?cause=timeout").json["executions"] == []
    assert it.ask("GET", "/v1/executions?state=running").json["executions"] == []
    seen, target = [], "/v1/executions?limit=4"
    while True:
        page = it.ask("GET", target).json
        seen += page["executions"]
        if not page["next"]:
            break
        target = f"/v1/executions?limit=4&before={page['next']}"
    assert [run["id"] for run in seen] == [run["id"] for run in everything["executions"]]


@pytest.mark.parametrize("query, status", [
    ("state=asleep", 400), ("cause=none", 400), ("language=perl", 400), ("limit=0", 400),
    ("limit=501", 400), ("limit=x", 400), ("before=" + "0" * 32, 404),
])
def test_wrong_filters(service, query, status):
    assert service.ask("GET", f"/v1/executions?{query}").status == status


def test_old_runs_are_forgotten(serve):
    """SCRP-06: memory of the service is bounded."""
    it = serve(config="serve: {keep: 3}\nrecord: {enabled: false}\n").ready()
    first = it.run("echo 1", "bash").json["id"]
    for _ in range(4):
        it.run("echo 2", "bash")
    assert it.ask("GET", f"/v1/executions/{first}").status == 404
    assert len(it.ask("GET", "/v1/executions").json["executions"]) <= 4
    it = serve(config="serve: {keep_time: 1ms}\nrecord: {enabled: false}\n").ready()
    first = it.run("echo 1", "bash").json["id"]
    it.run("echo 2", "bash")
    assert it.ask("GET", f"/v1/executions/{first}").status == 404


def test_idempotency_key(service):
    """The same key with the same body runs once, and says so again."""
    key = {"Idempotency-Key": "k1"}
    body = {"script": "import time; print(time.time_ns())", "language": "python"}
    first = service.ask("POST", "/v1/executions", body, key)
    again = service.ask("POST", "/v1/executions", body, key)
    assert first.body == again.body
    other = service.ask("POST", "/v1/executions", {**body, "timeout": 5}, key)
    assert other.status == 422
    for bad in ("", "x" * 256):
        assert service.ask("POST", "/v1/executions", body, {"Idempotency-Key": bad}).status == 400
    run = service.ask("POST", "/v1/executions", body, {**key, "Prefer": "respond-async"})
    assert run.json["id"] == first.json["id"]


def test_idempotency_key_while_it_runs(service):
    """Two at once: one run, two answers."""
    body = {"script": "sleep 0.5; echo $RANDOM$RANDOM", "language": "bash"}
    answers = []

    def ask():
        answers.append(service.ask("POST", "/v1/executions", body, {"Idempotency-Key": "k2"}).json)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer["id"] for answer in answers}) == 1
    assert len({answer["stdout"] for answer in answers}) == 1


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("when", ["after", "before"])
def test_who_asks_again_when_a_client_went_away_gets_a_run(serve, accept, when):
    """A key is for those who heard no answer: what was cancelled because a client left is none, be it that the next one
    asks after that or waits already."""
    it = serve().ready()
    body, key = {"script": "sleep 1; echo done", "language": "bash"}, {"Idempotency-Key": "k"}
    gone = it.connect()
    gone.request("POST", "/v1/executions", json.dumps(body), {**key, "Content-Type": "application/json", "Accept": accept})
    run = None
    while not run:
        run = next((r["id"] for r in it.ask("GET", "/v1/executions?state=running").json["executions"]), None)
    answers = []
    stays = threading.Thread(target=lambda: answers.append(it.ask("POST", "/v1/executions", body, key)))
    if when == "before":
        stays.start()
        while it.metrics()["belljar_connections"] < 3:  # that one, the one that leaves, ours
            pass
    gone.close()
    assert it.ended(run)["cause"] == "cancelled"
    if when == "after":
        stays.start()
    stays.join()
    assert answers[0].json["stdout"] == "done\n" and answers[0].json["id"] != run
    again = it.ask("POST", "/v1/executions", body, key)
    assert again.body == answers[0].body


TICKS = {"script": "for i in {1..200}; do echo $i; read -t 0.05 < /dev/zero; done", "language": "bash", "timeout": 30}
STREAM, ASYNC = {"Accept": "text/event-stream"}, {"Prefer": "respond-async"}


def begin(it, body, headers, connection=None):
    """Send an order without waiting for its answer; the connection, and the run once it is under way."""
    conn = connection or it.connect()
    known = {run["id"] for run in it.ask("GET", "/v1/executions").json["executions"]}
    conn.request("POST", "/v1/executions", json.dumps(body), {"Content-Type": "application/json", **headers})
    run = None
    while not run:
        runs = it.ask("GET", "/v1/executions").json["executions"]
        run = next((run["id"] for run in runs if run["id"] not in known and run["state"] != "queued"), None)
    return conn, run


def hang_up(conn):
    """Really: a response that was begun holds the socket."""
    conn.sock.shutdown(socket.SHUT_RDWR)
    conn.close()


@pytest.mark.parametrize("owner", [{}, STREAM], ids=["plain", "stream"])
def test_who_joins_aside_keeps_the_run(serve, owner):
    """It was told 202, and the run goes on by itself from then on, whoever brought it."""
    it = serve().ready()
    body, key = {"script": "sleep 1; echo done", "language": "bash"}, {"Idempotency-Key": "k"}
    conn, run = begin(it, body, {**key, **owner})
    joined = it.ask("POST", "/v1/executions", body, {**key, **ASYNC})
    assert (joined.status, joined.json["id"]) == (202, run)
    hang_up(conn)
    ended = it.ended(run)
    assert (ended["cause"], ended["result"]["stdout"]) == ("exited", "done\n")
    assert it.ask("POST", "/v1/executions", body, key).json["id"] == run


@pytest.mark.parametrize("owner", [{}, STREAM], ids=["plain", "stream"])
def test_who_joins_by_a_stream_keeps_the_run_while_it_reads(serve, owner):
    it = serve().ready()
    key = {"Idempotency-Key": "k"}
    conn, run = begin(it, {**TICKS, "script": TICKS["script"].replace("200", "30")}, {**key, **owner})
    joined = it.events("/v1/executions", "POST", {**TICKS, "script": TICKS["script"].replace("200", "30")}, {**key, **STREAM})
    seen = [next(joined)]
    hang_up(conn)
    seen += joined
    assert seen[-1][0] == "result" and seen[-1][1]["id"] == run
    assert (seen[-1][1]["cause"], seen[-1][1]["stdout"].split()[-1]) == ("exited", "30")


@pytest.mark.parametrize("owner", [{}, STREAM], ids=["plain", "stream"])
@pytest.mark.parametrize("first", ["owner", "joiner"])
@pytest.mark.parametrize("body", [TICKS, {**TICKS, "script": "sleep 20"}], ids=["loud", "quiet"])
def test_when_all_readers_have_left_the_run_ends(serve, owner, first, body):
    """In whatever order they go, and whether or not there is anything to read."""
    it = serve().ready()
    key = {"Idempotency-Key": "k"}
    conn, run = begin(it, body, {**key, **owner})
    joined, _ = begin_join(it, body, {**key, **STREAM})
    watcher = it.ask("GET", f"/v1/executions/{run}").json
    assert watcher["state"] == "running"
    hang_up(conn if first == "owner" else joined)
    time.sleep(0.5)
    assert it.ask("GET", f"/v1/executions/{run}").json["state"] == "running"
    hang_up(joined if first == "owner" else conn)
    ended = it.ended(run)
    assert ended["cause"] == "cancelled" and ended["duration_ms"] < 9000


def begin_join(it, body, headers):
    conn = it.connect()
    conn.request("POST", "/v1/executions", json.dumps(body), {"Content-Type": "application/json", **headers})
    response = conn.getresponse()
    assert response.status == 200 and response.read(1)
    return conn, response


def test_a_connection_whose_run_was_joined_is_watched_again(serve):
    """The next run on it has one client only."""
    it = serve().ready()
    key = {"Idempotency-Key": "k"}
    body = {"script": "sleep 0.5; echo done", "language": "bash"}
    conn, run = begin(it, body, key)
    it.ask("POST", "/v1/executions", body, {**key, **ASYNC})
    assert json.loads(conn.getresponse().read())["id"] == run
    conn, run = begin(it, {"script": "sleep 60", "language": "bash"}, {}, conn)
    hang_up(conn)
    assert it.ended(run)["cause"] == "cancelled"


@pytest.mark.parametrize("owner", [{}, STREAM], ids=["plain", "stream"])
@pytest.mark.parametrize("joiner", [ASYNC, STREAM], ids=["aside", "stream"])
def test_joining_while_the_client_leaves(serve, owner, joiner):
    """Be it the same run or a new one: who is here gets one to its end."""
    it = serve().ready()
    body = {"script": "read -t 0.1 < /dev/zero; echo done", "language": "bash"}
    for i in range(40):
        headers = {"Idempotency-Key": f"k{i}"}
        conn, _ = begin(it, body, {**headers, **owner})
        leaves = threading.Timer(0.002 * (i % 10), hang_up, [conn])
        leaves.start()
        time.sleep(0.001 * (i % 7))
        if joiner is ASYNC:
            end = it.ended(it.ask("POST", "/v1/executions", body, {**headers, **joiner}).json["id"])["result"]
        else:
            name, end = list(it.events("/v1/executions", "POST", body, {**headers, **joiner}))[-1]
            assert name == "result"
        leaves.join()
        assert (end["cause"], end["stdout"]) == ("exited", "done\n")


def test_a_key_holds_what_was_cancelled_on_demand(service):
    """Whoever ended it meant the run, and its client hears so each time."""
    body, key = {"script": "sleep 60", "language": "bash"}, {"Idempotency-Key": "k3", "Prefer": "respond-async"}
    run = service.ask("POST", "/v1/executions", body, key).json["id"]
    service.wait_state(run, "running")
    service.ask("DELETE", f"/v1/executions/{run}")
    again = service.ask("POST", "/v1/executions", body, {"Idempotency-Key": "k3"})
    assert (again.json["id"], again.json["cause"]) == (run, "cancelled")


def test_a_full_queue_is_429(serve):
    """DS-PAR: bounded, and it says when to come back."""
    it = serve(config="serve: {concurrency: 1, queue: 1}\n").ready()
    first = it.start("sleep 30")
    it.wait_state(first, "running")
    second = it.start("echo second")
    while it.metrics()["belljar_queue_length"] != 1:
        pass
    answer = it.run("echo third", "bash")
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert it.run("echo third", "bash", headers={"Prefer": "respond-async"}).status == 429
    assert it.ask("GET", f"/v1/executions/{second}").json["state"] == "queued"
    it.ask("DELETE", f"/v1/executions/{first}")
    assert it.ended(second)["result"]["stdout"] == "second\n"
    assert it.metrics()['belljar_denials_total{reason="queue_full"}'] == 2


def test_cancelled_in_the_queue(serve):
    it = serve(config="serve: {concurrency: 1}\n").ready()
    first = it.start("sleep 30")
    it.wait_state(first, "running")
    second = it.start("echo second")
    while it.metrics()["belljar_queue_length"] != 1:
        pass
    answer = it.ask("DELETE", f"/v1/executions/{second}")
    assert (answer.json["cause"], answer.json["result"]) == ("cancelled", None)
    it.ask("DELETE", f"/v1/executions/{first}")


def test_a_retry_after_429_runs(serve):
    """A key does not hold a refusal."""
    it = serve(config="serve: {concurrency: 1, queue: 0}\n").ready()
    first = it.start("sleep 30")
    it.wait_state(first, "running")
    body = {"script": "echo x", "language": "bash"}
    assert it.ask("POST", "/v1/executions", body, {"Idempotency-Key": "k"}).status == 429
    it.ask("DELETE", f"/v1/executions/{first}")
    assert it.ask("POST", "/v1/executions", body, {"Idempotency-Key": "k"}).status == 200


def test_metrics(serve):
    """DS-MON"""
    it = serve().ready()
    it.run("exit 1", "bash")
    it.run("api_key = 'secret123'")
    it.run("while True: pass", timeout=0.2)
    metrics = it.metrics()
    assert metrics['belljar_runs_total{backend="native",cause="exited"}'] == 1
    assert metrics['belljar_runs_total{backend="native",cause="rejected"}'] == 1
    assert metrics['belljar_runs_total{backend="native",cause="timeout"}'] == 1
    assert metrics["belljar_run_duration_seconds_count"] == 3
    assert metrics['belljar_run_duration_seconds_bucket{le="+Inf"}'] == 3
    assert metrics["belljar_run_duration_seconds_sum"] >= 0.2
    assert metrics["belljar_runs_in_flight"] == 0
    assert metrics["belljar_ready"] == 1
    post = 'belljar_http_requests_total{code="200",method="POST",route="/v1/executions"}'
    assert metrics[post] == 3


def test_half_closed_is_gone(service):
    """A client that stops writing is gone: over TCP the two look the same."""
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(service.socket)
    body = b'{"script":"sleep 60","language":"bash"}'
    sock.sendall(b"POST /v1/executions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    run = None
    while not run:
        running = service.ask("GET", "/v1/executions?state=running").json["executions"]
        run = running[0]["id"] if running else None
    sock.shutdown(socket.SHUT_WR)
    assert service.ended(run)["cause"] == "cancelled"
    sock.close()


def test_samples_while_it_runs(service):
    """DS-MON: what a run uses is told while it runs."""
    script = "x = bytearray(30 << 20)\nimport time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
    events = list(service.events("/v1/executions", "POST", {"script": script, "language": "python"},
                                 {"Accept": "text/event-stream"}))
    samples = [data for name, data in events if name == "sample"]
    result = events[-1][1]
    assert 2 <= len(samples) <= 10
    assert [s["elapsed_ms"] for s in samples] == sorted(s["elapsed_ms"] for s in samples)
    assert [s["cpu_ms"] for s in samples] == sorted(s["cpu_ms"] for s in samples)
    assert 30 << 20 < samples[-1]["memory_bytes"] <= result["usage"]["peak_memory_bytes"] * 1.05
    assert 0 < samples[-1]["cpu_ms"] <= result["usage"]["cpu_ms"] + 50


def test_a_run_tells_what_it_used_over_time(serve, tmp_path):
    """DS-MON: samples in the answer about a run, while it runs, when it has ended, and from the records."""
    state = {"BELLJAR_STATE_DIR": str(tmp_path / "state")}
    it = serve(env=state).ready()
    run = it.start("import time\nx = bytearray(50 << 20)\nuntil = time.time() + 1.2\n"
                   "while time.time() < until or time.process_time() < 0.6: pass\n", "python")
    until = time.monotonic() + 20
    while not (live := it.ask("GET", f"/v1/executions/{run}").json)["samples"]:
        assert time.monotonic() < until
    assert live["state"] == "running" and live["result"] is None
    ended = it.ended(run)
    samples = ended["samples"]
    assert len(samples) >= 3 and samples == ended["result"]["usage"]["samples"]
    for a, b in zip(samples, samples[1:]):
        assert a["elapsed_ms"] < b["elapsed_ms"] and a["cpu_ms"] <= b["cpu_ms"]
    assert samples[-1]["memory_bytes"] > 50 << 20 and samples[-1]["cpu_ms"] > 200
    assert it.run("print(1)").json["usage"].get("samples") is None
    it.stop()
    again = serve(env=state).ready()
    assert again.ask("GET", f"/v1/executions/{run}").json["samples"] == samples


def watch(service, headers=None):
    """The list, live: what is told, event by event, from the first one on."""
    it = service.events("/v1/events", headers=headers)
    assert next(it) == ("ready", {})
    return it


def test_the_list_is_told_live(service):
    """DS-MON: whoever watches the list hears of a run that comes, begins and ends, at once."""
    heard = watch(service)
    run = service.start("echo hi")
    # A run of an earlier test may still be on its way out of the list.
    ours = (event for event in heard if event[1]["id"] == run)
    states = [next(ours) for _ in range(3)]
    assert states == [("execution", {"id": run, "state": s}) for s in ("queued", "running", "finished")]
    heard.close()


def test_watchers_are_bounded_and_leave_room_when_they_go(serve):
    service = serve().ready()
    watchers = [watch(service) for _ in range(64)]
    answer = service.ask("GET", "/v1/events")
    assert answer.status == 503 and "64 watch" in answer.json["detail"]
    for it in watchers:
        it.close()
    deadline = time.monotonic() + 10
    while True:  # the service sees that they left without writing to them
        conn = service.connect()
        conn.request("GET", "/v1/events")
        response = conn.getresponse()
        if response.status == 200 or time.monotonic() > deadline:
            break
        response.read()
        conn.close()
        time.sleep(0.05)
    assert response.status == 200
    conn.close()


def test_a_service_that_stops_does_not_wait_for_watchers(serve):
    service = serve().ready()
    heard = watch(service)
    began = time.monotonic()
    service.process.terminate()
    assert list(heard) == []
    assert service.process.wait(10) == 0
    assert time.monotonic() - began < 2.5
