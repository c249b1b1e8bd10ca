# SPDX-License-Identifier: Apache-2.0
"""The lines about many records: a page of a million, and runs while old records go."""
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile
import time

from serve import HELLO, Service, Table, percentile

MILLION = 1_000_000
OLD = 60_000

ROWS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
INSERT INTO executions (seq, id, name, tool, tenant, through, language, backend, policy, trusted, script_sha256,
  limits, risk, effective_risk, state, cause, exit_code, started_ms, ended_ms, duration_us, cpu_us, peak_memory)
SELECT i * 1000, printf('%032x', i), 'job.py', CASE i % 50000 WHEN 0 THEN 'rare' END,
  CASE i % 3 WHEN 0 THEN 'acme' END, 0, i % 2, 0, 0, 0, printf('%064x', i), '{}', 0, 0, 3,
  CASE i % 40000 WHEN 0 THEN 4 ELSE 1 END, 0, i, i + 5, 5000, 4000, 1000000 FROM n
"""
DETAILS = """INSERT INTO details SELECT seq, '{"stdout":"' || printf('%.*c', 300, 'x') || '"}', NULL FROM executions
WHERE seq < 1e15"""
PAGES = {"the newest": [], "of a rare tool": ["--tool", "rare"], "of a tenant": ["--tenant", "acme"],
         "of a rare cause": ["--cause", "oom"], "from the middle": ["--before", f"{MILLION // 2:032x}"]}


def fill(state, rows):
    """Runs of long ago, written by hand: they would take an hour to make."""
    db = sqlite3.connect(pathlib.Path(state, "records/belljar.db"), timeout=60)
    db.execute(ROWS, (rows,))
    db.execute(DETAILS)
    db.commit()
    db.close()


def command(belljar, state, *args):
    start = time.perf_counter()
    subprocess.run([belljar, *args], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "BELLJAR_STATE_DIR": str(state)})
    return time.perf_counter() - start


def million(belljar, _client, rounds):
    table = Table("A million records", "`belljar history`, one page, from the start of the program to its end.")
    with tempfile.TemporaryDirectory(prefix="bj-bench-") as state:
        command(belljar, state, "history")
        fill(state, MILLION)
        times = {name: [] for name in PAGES}
        for _ in range(rounds):
            for name, args in PAGES.items():
                times[name].append(command(belljar, state, "history", "--json", *args))
    for name, seconds in times.items():
        table.add(f"the page {name}, p50", statistics.median(seconds) * 1e3, "ms", at_most=50)
    return table


def ask_for(service, seconds):
    """Runs one after the other for so long."""
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        times += service.ask(HELLO, count=20, pause=5)[0]
    return times


def retention(belljar, client, _rounds):
    table = Table("Retention", f"Warm runs while {OLD:,} old records go, against the same when none are old.")
    with Service(belljar, client, warm="{slots: 8}", record="{keep_time: 1h}") as service:
        service.wait_warm()
        rest = ask_for(service, 4)
        fill(f"{service.folder}/state", OLD)
        busy = ask_for(service, 4)
        db = sqlite3.connect(f"{service.folder}/state/records/belljar.db")
        gone = OLD - db.execute("SELECT count(*) FROM executions WHERE seq < 1e15").fetchone()[0]
        db.close()
    table.add("old records that went meanwhile", gone, at_least=1000)
    table.add("warm run with nothing old, p50", statistics.median(rest) * 1e3, "ms")
    table.add("warm run while they go, p50", statistics.median(busy) * 1e3, "ms")
    table.add("while over without, p50", statistics.median(busy) / statistics.median(rest), at_most=1.5)
    table.add("while they go, p99", percentile(busy, 0.99) * 1e3, "ms", at_most=50)
    return table


def tables(belljar, rounds):
    client = str(pathlib.Path(belljar).parent.parent / "bench/serve_bench")
    for measure in million, retention:
        yield measure(belljar, client, rounds)
