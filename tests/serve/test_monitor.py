# SPDX-License-Identifier: Apache-2.0
"""DS-MON: what the service tells Prometheus, and what ships for it."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
import yaml

from serving import TOP
from test_life import tree

RULES = TOP / "contrib/prometheus/belljar.rules.yaml"
DASHBOARD = TOP / "contrib/grafana/belljar.json"


@pytest.fixture(scope="module")
def scrape(service):
    """A scrape after runs of several kinds."""
    service.run("print(1)")
    service.run("exit 3", "bash")
    service.run("api_key = 'secret123'")
    service.run("while True: pass", timeout=0.2)
    service.ask("GET", "/nothing/here")
    return service.ask("GET", "/metrics").body.decode()


def names_of(scrape):
    return {line.split()[2] for line in scrape.splitlines() if line.startswith("# TYPE")}


def test_promtool_accepts_a_live_scrape(scrape):
    done = subprocess.run(["promtool", "check", "metrics"], input=scrape, text=True, timeout=60,
                          capture_output=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_promtool_accepts_the_alert_rules():
    done = subprocess.run(["promtool", "check", "rules", str(RULES)], text=True, timeout=60,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def check_names(expressions, scrape):
    known = names_of(scrape)
    for expression in expressions:
        for name in re.findall(r"\bbelljar_\w+", expression):
            plain = re.sub(r"_(bucket|sum|count)$", "", name)
            assert name in known or plain in known, (name, expression)


def test_alerts_ask_for_metrics_that_exist(scrape):
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    assert len(rules) >= 8
    check_names([rule["expr"] for rule in rules], scrape)


def test_the_dashboard_asks_for_metrics_that_exist(scrape):
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    check_names(asked + [v["query"] for v in dashboard["templating"]["list"]], scrape)
    # And it leaves nothing out.
    shown = set(re.findall(r"belljar_\w+", " ".join(asked)))
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for name in shown}
    hidden = {"belljar_build_info", "belljar_start_time_seconds", "belljar_runs_remembered",
              "belljar_queue_limit"}
    assert names_of(scrape) - shown == hidden


def test_labels_are_bounded(service, scrape):
    """Nothing that a request says becomes a label."""
    before = len(scrape.splitlines())
    for i in range(20):
        service.ask("GET", f"/v1/executions/{i:032x}")
        service.ask("GET", f"/made/up/{i}")
    after = service.ask("GET", "/metrics").body.decode()
    assert len(after.splitlines()) <= before + 2
    assert "made/up" not in after


def test_findings_and_denials_are_counted(service, scrape):
    before = service.metrics()
    answer = service.run("password = 'hunter2hunter2'").json
    rule = answer["findings"][0]["rule"]
    after = service.metrics()
    name = f'belljar_findings_total{{rule="{rule}"}}'
    assert after[name] == before.get(name, 0) + 1
    name = 'belljar_denials_total{reason="rejected"}'
    assert after[name] == before[name] + 1
    assert "hunter2" not in service.ask("GET", "/metrics").body.decode()


def wait_for(service, what, seconds=20):
    """The metrics once @what holds for them."""
    until = time.monotonic() + seconds
    while True:
        metrics = service.metrics()
        if what(metrics):
            return metrics
        assert time.monotonic() < until, {k: v for k, v in metrics.items() if "slot" in k or "zygote" in k}
        time.sleep(0.02)


def slots(metrics, kind, state):
    return metrics[f'belljar_slots{{kind="{kind}",state="{state}"}}']


def test_slots_and_zygotes_are_what_there_is(serve):
    """DS-MON: the launcher is asked; the settings are not repeated."""
    it = serve(config="warm: {slots: 2, bash_slots: 1, jars: 1, max: 2}\n").ready()
    rest = wait_for(it, lambda m: slots(m, "python", "ready") == 2 and slots(m, "bash", "ready") == 1)
    assert rest['belljar_zygotes{kind="python"}'] == 1 and rest['belljar_zygote_starts_total{kind="python"}'] >= 1
    assert slots(rest, "python", "busy") == slots(rest, "bash", "busy") == 0
    assert rest["belljar_jars"] >= 3 and rest["belljar_jars_limit"] > 100
    runs = [it.start("import time; time.sleep(60)", "python"), it.start("sleep 60")]
    busy = wait_for(it, lambda m: slots(m, "python", "busy") + slots(m, "bash", "busy") == 2)
    assert busy["belljar_runs_in_flight"] == 2
    # What was taken is made anew while they run.
    wait_for(it, lambda m: slots(m, "python", "ready") == 2)
    for run in runs:
        it.ask("DELETE", f"/v1/executions/{run}")
    wait_for(it, lambda m: slots(m, "python", "busy") + slots(m, "bash", "busy") == 0)
    # A run that no slot fits.
    cold = it.start("sleep 60", files=[{"name": "a", "text": "x"}])
    wait_for(it, lambda m: slots(m, "cold", "busy") == 1)
    it.ask("DELETE", f"/v1/executions/{cold}")


def test_a_zygote_that_dies_is_counted(serve):
    it = serve(config="warm: {slots: 1, max: 1}\n").ready()
    before = wait_for(it, lambda m: m['belljar_zygotes{kind="python"}'] == 1)
    # Some may be on their way out, and those that wait go with their zygote.
    for pid in tree(it.process.pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if "python" in pathlib.Path(f"/proc/{pid}/cmdline").read_text().partition("\0")[0]:
                os.kill(pid, signal.SIGKILL)
    name = 'belljar_zygote_starts_total{kind="python"}'
    wait_for(it, lambda m: m[name] > before[name] and m['belljar_zygotes{kind="python"}'] == 1)
    assert it.run("print(1)").json["stdout"] == "1\n"


@pytest.mark.parametrize("part", ["front", "launcher"])
def test_restarts_are_counted(serve, part):
    it = serve().ready()
    name = f'belljar_restarts_total{{part="{part}"}}'
    assert it.metrics()[name] == 0
    front, launcher = it.processes()
    os.kill(front if part == "front" else launcher, signal.SIGKILL)
    it.wait_note("READY=1")
    assert it.metrics()[name] == 1


def test_runs_that_wait_for_a_person_are_counted(serve):
    it = serve().ready()
    run = it.run("print(1)", headers={"Belljar-Agent": "tester"}).json["id"]
    assert it.metrics()["belljar_runs_pending"] == 1
    it.ask("POST", f"/v1/executions/{run}/deny")
    assert it.metrics()["belljar_runs_pending"] == 0
