# SPDX-License-Identifier: Apache-2.0
"""The Python SDK against a real service: TOOL, RESULT, SCRP-01, SCRP-08/09."""
import asyncio
import threading
import time

import pytest

import belljar
from belljar.calls import EventReader
from belljar.place import find_place

FOREVER = "while :; do sleep 0.05; echo on; done"


@pytest.fixture
def jar(where):
    with belljar.Client(*where) as client:
        yield client


def wait_for(check, seconds=10):
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def test_a_run_and_its_typed_result(jar):
    """RESULT: every field of the object has a place."""
    result = jar.run("import sys; print(6 * 7); print('e', file=sys.stderr)", timeout=10)
    assert (result.stdout, result.stderr, result.exit_code) == ("42\n", "e\n", 0)
    assert result.success and result.cause == "exited" and result.state == "finished"
    assert result.meta.runtime == "native" and result.meta.limits.timeout_seconds == 10
    assert result.meta.isolation.layers and result.usage.peak_memory_bytes > 0
    assert result.risk.level in ("low", "medium", "high", "critical")
    assert result.raw["id"] == result.id
    assert result.raise_for_cause() is result


def test_bash_and_every_option(jar):
    result = jar.run('cat; cat a.bin b.txt; echo "$1 $NAME"', "bash", args=["one"], stdin=b"in\xff\n",
                     env={"NAME": "two"}, files={"a.bin": b"\xfe\n", "b.txt": "text\n"},
                     memory="128MiB", cpus=0.5, pids=20, timeout="5s", policy="strict")
    assert result.stdout == "in\ufffd\n\ufffd\ntext\none two\n"
    assert result.meta.limits.memory_bytes == 128 << 20 and result.meta.policy == "strict"


def test_a_script_that_fails_is_a_result(jar):
    result = jar.run("raise SystemExit(3)")
    assert (result.success, result.exit_code, result.cause) == (False, 3, "exited")
    with pytest.raises(RuntimeError):
        result.raise_for_cause()


def test_a_refused_script_names_its_findings(jar):
    result = jar.run("eval('malicious')")
    assert result.validation_failed and result.cause == "rejected" and result.exit_code is None
    finding = next(f for f in result.findings if f.blocks)
    assert finding.line == 1 and "line 1" in str(finding)


def test_check_runs_nothing(jar):
    result = jar.check("def foo(")
    assert result.validation_failed and result.findings[0].layer == "syntax"


def test_output_as_it_comes(jar):
    """The first line is there while the script still runs."""
    seen = []
    stream = jar.stream("echo first; read -r _ < /dev/null; sleep 1; echo $EPOCHREALTIME >&2", "bash")
    for event in stream:
        if event.kind in ("stdout", "stderr"):
            seen.append((event.kind, event.text, time.time()))
        if event.result:
            assert event.result.success
    assert [s[0] for s in seen] == ["stdout", "stderr"] and seen[0][1] == "first\n"
    assert seen[0][2] < float(seen[1][1]), "the last word was not said yet"


def test_callbacks_get_the_output(jar):
    out, err = [], []
    result = jar.run("echo a; echo b >&2", "bash", on_stdout=out.append, on_stderr=err.append)
    assert ("".join(out), "".join(err), result.stdout) == ("a\n", "b\n", "a\n")


def test_bytes_that_are_no_text_stay_whole(jar):
    data = b"".join(e.data for e in jar.stream(r"printf '\xff\x00\n'", "bash") if e.kind == "stdout")
    assert data == b"\xff\x00\n"


def test_leaving_a_stream_cancels_its_run(jar, service):
    """SCRP-06: nobody is left to read it, so it ends."""
    stream = jar.stream(FOREVER, "bash", timeout=60)
    next(e for e in stream if e.kind == "stdout")
    run = jar.list(state="running").executions[0].id
    stream.close()
    wait_for(lambda: jar.get(run).ended)
    assert jar.get(run).cause == "cancelled"


def test_start_watch_cancel(jar):
    started = jar.start(FOREVER, "bash", timeout=60)
    assert not started.ended
    for event in jar.events(started.id):
        if event.kind == "stdout":
            break
    assert jar.get(started.id).state == "running"
    ended = jar.cancel(started.id)
    assert ended.ended and ended.result and ended.result.cause == "cancelled"
    assert jar.wait(started.id).cause == "cancelled"
    with pytest.raises(belljar.Problem) as caught:
        jar.cancel(started.id)
    assert (caught.value.status, caught.value.kind) == (409, "conflict")


def test_idempotency(jar):
    key = f"key-{time.monotonic_ns()}"
    first, second = (jar.run("import os; print(os.urandom(8))", idempotency_key=key) for _ in "ab")
    assert first.id == second.id and first.stdout == second.stdout
    with pytest.raises(belljar.Problem) as caught:
        jar.run("print(2)", idempotency_key=key)
    assert caught.value.kind == "key-reused"


def test_pages(jar):
    for _ in range(3):
        jar.run("print(1)")
    page = jar.list(limit=2, language="python")
    assert len(page.executions) == 2 and page.next
    older = jar.list(limit=1, before=page.next)
    assert older.executions[0].id not in [x.id for x in page.executions]


def test_problems_are_errors(jar):
    with pytest.raises(belljar.Problem) as caught:
        jar.run("print(1)", memory="900GiB")
    assert caught.value.status == 403 and caught.value.kind == "loosens" and caught.value.detail
    with pytest.raises(belljar.Problem) as caught:
        jar.get("0" * 32)
    assert caught.value.status == 404
    with pytest.raises(belljar.Problem) as caught:
        next(jar.events("0" * 32))
    assert caught.value.status == 404
    with pytest.raises(belljar.Problem):
        jar.run("x" * (64 << 20))
    assert jar.run("print(1)").success


def test_health(jar):
    assert jar.health() == {"status": "ok"} and jar.ready() == {"status": "ready"}


def test_many_threads_share_a_client(jar):
    """DS-PAR: one client, twenty runs at once."""
    results = {}
    threads = [threading.Thread(target=lambda n=n: results.update({n: jar.run(f"print({n})").stdout}))
               for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: f"{n}\n" for n in range(20)}


def test_the_key_is_needed_and_told(service):
    """TENANT: over TCP the key decides."""
    for key in (None, "wrong-key-of-some-length"):
        with pytest.raises(belljar.Problem) as caught:
            belljar.Client(service.url, key).list()
        assert caught.value.status == 401


def test_nobody_there(tmp_path):
    for url in (f"unix:{tmp_path}/none.sock", "http://127.0.0.1:9"):
        with pytest.raises(belljar.ConnectionFailed, match="belljar serve"):
            belljar.Client(url).health()
        with pytest.raises(belljar.ConnectionFailed, match="belljar serve"):
            asyncio.run(belljar.AsyncClient(url).health())


def test_places(tmp_path):
    assert find_place("unix:/a/b", {}).path == "/a/b"
    assert find_place("/a/b", {}).path == "/a/b"
    assert str(find_place("http://h:8", {})) == "http://h:8"
    assert find_place(None, {"BELLJAR_URL": "http://h"}).port == 80
    assert find_place(None, {"BELLJAR_SERVE_SOCKET": "/s"}).path == "/s"
    assert find_place(None, {}).path == "/run/belljar/belljar.sock"
    (tmp_path / "belljar").mkdir()
    (tmp_path / "belljar/belljar.sock").touch()
    assert find_place(None, {"XDG_RUNTIME_DIR": str(tmp_path)}).path.startswith(str(tmp_path))
    for bad in ("ftp://x", "unix:relative", "http://h/path", "nonsense"):
        with pytest.raises(ValueError):
            find_place(bad, {})


def test_event_reader_takes_what_the_standard_allows():
    reader = EventReader()
    assert reader.feed(":comment") is None and reader.feed("") is None
    reader.feed("event:stdout")
    reader.feed('data:{"text":')
    reader.feed('data: "x"}')
    assert reader.feed("").text == "x"
    reader.feed("event: news")
    reader.feed('data: {"a": 1}')
    assert reader.feed("").raw == {"a": 1}
    reader.feed("data: {")
    with pytest.raises(belljar.ConnectionFailed):
        reader.feed("")
