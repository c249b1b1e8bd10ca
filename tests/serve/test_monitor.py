# SPDX-License-Identifier: Apache-2.0
"""DS-MON: what the service tells Prometheus, and what ships for it."""
import json
import re
import subprocess

import pytest
import yaml

from serving import TOP

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
