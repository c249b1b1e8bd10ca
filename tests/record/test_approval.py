# SPDX-License-Identifier: Apache-2.0
"""APPROVE: a run that may do harm waits for a person; decisions are bound to what was looked at."""
import json
import os
import pty
import threading
import time

import pytest

import disks
from keeping import AGENT, BELLJAR, Place

ASK_OWN = "approval: {rules: [ask through=own, ask through=api]}\n"


def pend(service, script="print(41 + 1)", **fields):
    answer = service.run(script, headers=AGENT, **fields)
    assert answer.status == 202, answer.body
    assert answer.json["state"] == "pending" and answer.json["cause"] is None
    assert answer.headers["Location"] == f"/v1/executions/{answer.json['id']}"
    return answer.json["id"]


def settle(service, run, seconds=20):
    """The run once it has ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        it = service.ask("GET", f"/v1/executions/{run}").json
        if it["state"] == "finished":
            return it
        time.sleep(0.02)
    pytest.fail(f"{it} did not end")


def test_an_agent_waits_and_its_run_begins_when_approved(place):
    """APPROVE, TOOL: 202 and pending; then queued or running; then the result is kept."""
    service = place.serve()
    run = pend(service)
    waiting = service.ask("GET", f"/v1/executions/{run}").json
    assert waiting["state"] == "pending" and waiting["result"]["risk"]["effective"] == "medium"
    assert [r["id"] for r in service.ask("GET", "/v1/history?state=pending").json["executions"]] == [run]
    answer = service.ask("POST", f"/v1/executions/{run}/approve", {"reason": "looks fine"})
    assert answer.status == 200 and answer.json["state"] in ("queued", "running", "finished")
    ended = settle(service, run)
    assert ended["cause"] == "exited" and ended["result"]["stdout"] == "42\n"
    decision = ended["result"]["decision"]
    assert decision["decision"] == "approved" and decision["by"] == "uid 0"
    assert decision["reason"] == "looks fine"


def test_the_owner_of_the_socket_does_not_wait(place):
    """APPROVE: a person's own run waits only where the rules say so."""
    service = place.serve()
    assert service.run("print(1)").status == 200


def test_a_reason_reaches_the_agent(place):
    """APPROVE: deny with a reason; nothing runs."""
    service = place.serve()
    run = pend(service)
    denied = service.ask("POST", f"/v1/executions/{run}/deny", {"reason": "use the API instead"}).json
    assert (denied["state"], denied["cause"]) == ("finished", "denied")
    result = service.ask("GET", f"/v1/executions/{run}").json["result"]
    assert result["error"] == "denied by uid 0: use the API instead" and result["stdout"] == ""
    assert result["decision"]["decision"] == "denied" and result["exit_code"] is None


def test_a_long_reason_is_whole(place):
    """APPROVE: whatever length and letters it has."""
    service = place.serve()
    run = pend(service)
    reason = "é" * 250
    assert service.ask("POST", f"/v1/executions/{run}/deny", {"reason": reason}).status == 200
    seen = service.ask("GET", f"/v1/executions/{run}").json["result"]
    assert seen["error"].endswith(": " + reason) and seen["decision"]["reason"] == reason


def test_only_one_of_two_deciders_wins(place):
    """APPROVE: at once, over and over: one 200 and one 409, and the record says what the winner said."""
    service = place.serve()
    for round_ in range(8):
        run = pend(service, f"print({round_})")
        answers = {}

        def decide(what):
            answers[what] = service.ask("POST", f"/v1/executions/{run}/{what}").status
        threads = [threading.Thread(target=decide, args=(w,)) for w in ("approve", "deny")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(answers.values()) == [200, 409], answers
        ended = settle(service, run)
        assert (ended["cause"] == "exited") == (answers["approve"] == 200)


def test_a_changed_byte_asks_again_and_the_same_does_not(place):
    """APPROVE: bound to script, inputs, limits and policy."""
    service = place.serve()
    run = pend(service, "print(1)")
    service.ask("POST", f"/v1/executions/{run}/approve")
    settle(service, run)
    again = service.run("print(1)", headers=AGENT)
    assert again.status == 200 and again.json["decision"]["decision"] == "approved"
    pend(service, "print(1) ")
    pend(service, "print(1)", timeout=7)
    pend(service, "print(1)", memory="64MiB")
    pend(service, "print(1)", policy="strict")
    pend(service, "print(1)", args=["x"])
    pend(service, "print(1)", env={"A": "b"})
    pend(service, "print(1)", stdin="x")
    pend(service, "print(1)", files=[{"name": "a", "text": "x"}])


def test_reuse_can_be_switched_off(place):
    """APPROVE: reused only as far as configured."""
    service = place.serve("approval: {reuse: 1ms}\n")
    run = pend(service)
    service.ask("POST", f"/v1/executions/{run}/approve")
    assert settle(service, run)["cause"] == "exited"
    pend(service)


def test_what_nobody_decides_expires(place):
    """APPROVE: expiry, cause expired; a late decision is refused."""
    service = place.serve("approval: {expire: 1s}\n")
    run = pend(service)
    ended = settle(service, run)
    assert ended["cause"] == "expired" and "ask again" in ended["result"]["error"]
    assert service.ask("POST", f"/v1/executions/{run}/approve").status == 409


def test_expiry_and_decisions_are_in_the_audit_log(place):
    """AUDIT, APPROVE: one line for each way a question ends, and each is counted."""
    service = place.serve("approval: {expire: 3s}\n")
    denied = pend(service, "print(2)")
    assert service.ask("POST", f"/v1/executions/{denied}/deny", {"reason": "no"}).status == 200
    late = pend(service, "print(1)")
    settle(service, late)
    lines = [json.loads(x) for x in place.cli("audit", "export").stdout.splitlines()]
    about = {(x["kind"], x["data"]["run"]) for x in lines if x["kind"].startswith("approval.")}
    assert about == {("approval.ask", late), ("approval.ask", denied), ("approval.expire", late),
                     ("approval.deny", denied)}
    metrics = service.metrics()
    assert metrics['belljar_denials_total{reason="expired"}'] == 1
    assert metrics['belljar_denials_total{reason="denied"}'] == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts: run it as root")
def test_a_decision_that_cannot_be_audited_is_none(tmp_path):
    """AUDIT, APPROVE: neither in the log nor in the records; the run still waits."""
    disk = disks.Failing(tmp_path / "disk")
    place = Place(tmp_path)
    place.state = disk.top / "state"
    place.env["BELLJAR_STATE_DIR"] = str(place.state)
    try:
        service = place.serve(**disk.env)
        run = pend(service)
        for what in ("approve", "deny"):
            disk.always()
            assert service.ask("POST", f"/v1/executions/{run}/{what}").status == 500
            disk.peace()
            assert service.ask("GET", f"/v1/executions/{run}").json["state"] == "pending"
        assert service.ask("POST", f"/v1/executions/{run}/approve").status == 200
        assert settle(service, run)["cause"] == "exited"
        assert place.cli("audit", "verify").returncode == 0
    finally:
        place.stop()
        disk.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts: run it as root")
def test_a_decision_on_a_full_disk_can_be_made_again(tmp_path):
    """AUDIT, APPROVE: 503, not 500: when there is room it is taken."""
    disk = disks.Full(tmp_path / "disk")
    place = Place(tmp_path)
    place.state = disk.top / "state"
    place.env["BELLJAR_STATE_DIR"] = str(place.state)
    try:
        service = place.serve()
        waiting = [pend(service, f"print({i})") for i in range(100)]
        disk.fill()
        # What is kept back for it holds some.
        for run in waiting:
            answer = service.ask("POST", f"/v1/executions/{run}/deny")
            if answer.status != 200:
                break
        assert answer.status == 503
        disk.peace()
        assert service.ask("GET", f"/v1/executions/{run}").json["state"] == "pending"
        assert service.ask("POST", f"/v1/executions/{run}/approve").status == 200
        assert settle(service, run)["cause"] == "exited"
        assert place.cli("audit", "verify").returncode == 0
    finally:
        place.stop()
        disk.close()


def unreadable(place):
    """Leave a database in which looking for a run fails once it is tried, as on a disk that cannot be read."""
    with place.database() as db:
        names = ", ".join(row[1] for row in db.execute("PRAGMA table_info(executions)") if row[1] != "id")
        db.executescript("ALTER TABLE executions RENAME TO hidden; CREATE VIEW executions AS SELECT CASE"
                         f" abs(-9223372036854775808) WHEN 0 THEN NULL ELSE id END AS id, {names} FROM hidden")
    db.close()


def test_records_that_cannot_be_read_are_not_missing(place):
    """APPROVE: 404 would say that there is no such run, and that nobody can ever decide about it."""
    service = place.serve()
    run = pend(service)
    unreadable(place)
    asked = [("POST", f"/v1/executions/{run}/approve"), ("POST", f"/v1/executions/{run}/deny"),
             ("GET", f"/v1/history/{run}"), ("GET", f"/v1/history?before={run}"), ("GET", f"/v1/executions/{'0' * 32}")]
    answers = [service.ask(*what) for what in asked]
    assert [a.status for a in answers] == [500] * len(asked), [a.body for a in answers]


def test_a_key_that_cannot_be_looked_up_runs_nothing(place):
    """APPROVE: the same request again must not ask, or run, a second time because the records fail."""
    service = place.serve()
    assert service.run("print('once')", headers=KEYED).status == 202
    assert service.stop() == 0
    place.services.clear()
    service = place.serve()
    with place.database() as db:
        db.execute("ALTER TABLE approvals RENAME TO hidden")
    db.close()
    refused = service.run("print('once')", headers=KEYED)
    assert refused.status == 500 and "no such table" in refused.json["detail"], refused.body


KEYED = {**AGENT, "Idempotency-Key": "the-same-again"}


def test_the_same_request_again_asks_once(place):
    """APPROVE: an idempotency key brings the run that waits, before and after a restart, and then its
    result; with another request it is refused."""
    service = place.serve()
    first = service.run("print('once')", headers=KEYED)
    assert (first.status, first.json["state"]) == (202, "pending")
    run = first.json["id"]
    for prefer in ({}, {"Prefer": "respond-async"}):
        again = service.run("print('once')", headers={**KEYED, **prefer})
        assert (again.status, again.json["id"], again.json["state"]) == (202, run, "pending")
        assert again.headers["Location"] == f"/v1/executions/{run}"
    assert service.run("print('other')", headers=KEYED).status == 422
    assert service.run("print('once')", headers={**AGENT, "Idempotency-Key": "another"}).json["id"] != run
    service.stop()
    service = place.serve()
    assert service.run("print('once')", headers=KEYED).json["id"] == run
    assert [r["id"] for r in place.history("--state", "pending")].count(run) == 1
    service.ask("POST", f"/v1/executions/{run}/approve")
    settle(service, run)
    for _ in range(2):
        done = service.run("print('once')", headers=KEYED)
        assert (done.status, done.json["id"], done.json["stdout"]) == (200, run, "once\n")
    assert len(place.history("--cause", "exited")) == 1


def test_a_denied_request_stays_denied_under_its_key(place):
    service = place.serve()
    run = service.run("print(1)", headers=KEYED).json["id"]
    service.ask("POST", f"/v1/executions/{run}/deny", {"reason": "no"})
    again = service.run("print(1)", headers=KEYED)
    assert (again.status, again.json["id"], again.json["cause"]) == (200, run, "denied")
    for data in place.all_bytes().values():
        assert b"the-same-again" not in data


def test_a_blocking_finding_cannot_be_approved(place):
    """APPROVE: it is rejected at once and nobody is asked."""
    service = place.serve()
    answer = service.run("eval('1')", headers=AGENT)
    assert answer.status == 200 and answer.json["cause"] == "rejected"
    assert service.ask("POST", f"/v1/executions/{answer.json['id']}/approve").status == 404


def test_what_waits_survives_a_restart(place):
    """APPROVE: with inputs, environment and standard input."""
    service = place.serve()
    script = "import os, sys; print(open('in.txt').read(), os.environ['WHO'], sys.stdin.read(), sys.argv[1:])"
    run = pend(service, script, files=[{"name": "in.txt", "text": "file"}], env={"WHO": "env"},
               stdin="standard", args=["a", "b"])
    service.stop()
    service = place.serve()
    assert service.ask("GET", f"/v1/executions/{run}").json["state"] == "pending"
    service.ask("POST", f"/v1/executions/{run}/approve")
    assert settle(service, run)["result"]["stdout"] == "file env standard ['a', 'b']\n"


def test_approved_while_no_service_was_there(place):
    """APPROVE: `belljar approve` writes to the store, and the next service begins the run."""
    service = place.serve()
    run = pend(service)
    service.stop()
    done = place.cli("approve", run[:10], "--reason", "fine")
    assert done.returncode == 0, done.stderr
    service = place.serve()
    ended = settle(service, run)
    assert ended["cause"] == "exited" and ended["result"]["decision"]["by"] == "root"


def test_deny_without_a_service(place):
    service = place.serve()
    run = pend(service)
    service.stop()
    assert place.cli("deny", run, "--reason", "no").returncode == 0
    again = place.cli("approve", run)
    assert again.returncode == 125 and "denied already, by root" in again.stderr
    assert place.show(run)["cause"] == "denied"


def test_a_reason_of_any_bytes_is_told(place):
    """APPROVE: what is no text in it takes neither the decision nor the answer away."""
    service = place.serve()
    run = pend(service)
    service.stop()
    assert place.cli("deny", run, "--reason", os.fsdecode(b"no \xff way")).returncode == 0
    result = place.show(run)["result"]
    assert result["error"] == "denied by root: no ? way"
    assert result["decision"]["decision"] == "denied" and result["decision"]["reason"] == "no ? way"


def test_an_approval_with_a_reason_of_any_bytes_begins_the_run(place):
    """APPROVE: the service that knows the run is told as ever."""
    service = place.serve()
    run = pend(service)
    assert place.cli("approve", run, "--reason", os.fsdecode(b"fine \xff")).returncode == 0
    ended = settle(service, run)
    assert ended["cause"] == "exited" and ended["result"]["decision"]["reason"] == "fine ?"


def test_rules_deny_and_allow(place):
    """APPROVE: first match wins."""
    service = place.serve("approval: {rules: [allow through=api risk<=low, deny through=api]}\n")
    answer = service.run("print(1)", headers=AGENT)
    assert answer.json["cause"] == "denied" and "deny through=api" in answer.json["error"]


def test_rules_of_the_user_come_before_the_defaults(place):
    """APPROVE: a rule that is added opens nothing else; one that looks at nothing ends the list."""
    service = place.serve("approval: {rules: [allow tenant=ci, ask through=own]}\n")
    for args in (("tenant", "add", "ci"), ("tenant", "add", "dev")):
        assert place.cli(*args).returncode == 0
    keys = {name: place.cli("key", "add", "--tenant", name).stdout.strip() for name in ("ci", "dev")}

    def ask(name):
        return service.run("print(1)", headers={"Authorization": f"Bearer {keys[name]}"}).status
    assert ask("ci") == 200          # theirs
    assert ask("dev") == 202         # no rule of theirs: the default holds
    assert service.run("print(1)").json["cause"] == "denied"  # asked in place, where nobody sits
    service.stop()
    service = place.serve("approval: {rules: [ask tenant=ci, allow]}\n")
    assert (ask("ci"), ask("dev")) == (202, 200)
    service.stop()
    service = place.serve("approval: {rules: []}\n")
    assert (ask("ci"), ask("dev")) == (200, 200)


def test_own_run_without_a_terminal_says_how(place):
    """APPROVE: exit 126 and the sentence; after the decision the same command runs."""
    config = place.top / "c.yaml"
    config.write_text(ASK_OWN)
    script = place.script("print('mine')")
    done = place.cli("run", "--config", config, script)
    assert done.returncode == 126 and "belljar approve " in done.stderr
    run = done.stderr.split("belljar approve ")[1].split("`")[0]
    assert place.show(run)["approval"] == "waiting"
    assert "print('mine')" in place.show(run)["script"]
    assert place.cli("approve", run).returncode == 0
    done = place.cli("run", "--config", config, script)
    assert (done.returncode, done.stdout) == (0, "mine\n"), done.stderr
    script.write_text("print('other')")
    assert place.cli("run", "--config", config, script).returncode == 126


def at_terminal(place, config, script, answer, *words):
    """`belljar run` with a terminal of its own, and what the person there sees and types."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(BELLJAR, [BELLJAR, "run", "--config", str(config), *words, str(script)], place.env)
    seen = b""
    while b"Run it?" not in seen:
        seen += os.read(fd, 4096)
    os.write(fd, answer + b"\n")
    try:
        while part := os.read(fd, 4096):
            seen += part
    except OSError:
        pass
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


def test_own_run_asks_in_place(place):
    """APPROVE: findings, and the diff against the version that was approved last; a reason on no."""
    config = place.top / "c.yaml"
    config.write_text(ASK_OWN + "store_code: always\n")
    script = place.script("import os\nprint('one')\n")
    status, seen = at_terminal(place, config, script, b"y")
    assert status == 0 and "py-import" in seen and "print('one')" in seen and "ask through=own" in seen
    script.write_text("import os\nprint('two\x1b[2J')\n")
    status, seen = at_terminal(place, config, script, b"not today")
    assert status == 126 and "-print('one')" in seen and "+print('two" in seen and "denied by root: not today" in seen
    assert "\x1b[2J" not in seen
    row = place.history()[0]
    assert (row["cause"], row["approval"]) == ("denied", "denied")


@pytest.mark.parametrize("first", [b"", b"print('other')\n"])
def test_no_script_hides_from_who_decides(place, first):
    """APPROVE: what would be written over, turned around or cut off is shown, also as a change."""
    config = place.top / "c.yaml"
    config.write_text(ASK_OWN + "store_code: always\n")
    script = place.script("")
    if first:
        script.write_bytes(first)
        assert at_terminal(place, config, script, b"y")[0] == 0
    script.write_bytes(b"print('evil, and so that it would be hidden')\rprint('good, and long enough to hide it all')\n"
                       b"x = 'a\xe2\x80\xaeb'\n")
    status, seen = at_terminal(place, config, script, b"no")
    assert status == 126 and "evil, and so that it would be hidden')^Mprint('good" in seen and "'a<U+202E>b'" in seen
    assert "\r" not in seen.replace("\r\n", "") and "\u202e" not in seen


def test_a_decision_about_a_stream_is_good_once(place):
    """APPROVE: nobody knows what comes out of a pipe, so who said yes to one said it about that run."""
    config, pipe = place.top / "c.yaml", place.top / "pipe"
    config.write_text(ASK_OWN)
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)
    script = place.script("print('read:', input())")
    os.write(end, b"good\n")
    status, seen = at_terminal(place, config, script, b"y", "--stdin", str(pipe))
    assert status == 0 and "read: good" in seen
    os.write(end, b"evil\n")
    done = place.cli("run", "--config", config, "--stdin", pipe, script)
    os.close(end)
    assert "read: evil" not in done.stdout and done.returncode != 0, done
    assert "give a file" in done.stderr


def test_without_records_nobody_can_be_asked(place):
    config = place.top / "c.yaml"
    config.write_text(ASK_OWN + "record: {enabled: false}\n")
    done = place.cli("run", "--config", config, place.script("print(1)"))
    assert done.returncode == 126 and "record.enabled" in done.stderr


@pytest.mark.parametrize("body", ["[]", '{"reason": 1}', '{"why": "x"}', "nonsense"])
def test_a_bad_decision_is_refused(place, body):
    service = place.serve()
    run = pend(service)
    assert service.ask("POST", f"/v1/executions/{run}/deny", body).status == 400
    assert service.ask("GET", f"/v1/executions/{run}").json["state"] == "pending"
