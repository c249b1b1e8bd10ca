# SPDX-License-Identifier: Apache-2.0
"""VALD-03: no secret of a corpus in any byte that is kept, logged, counted or told to others.

Each secret comes in by every way into a run and goes out by every way out of one: as it is, without a
word beside it that gives it away."""
import json
import os
import signal
import subprocess
import time

import pytest

from keeping import AGENT, BELLJAR

SECRETS = {
    "aws": "AKIAQYLPMN5HFIQR7XYA",
    "github": "ghp_x7Kq2mVbN9pLrT4wYzA1cD3eF5gH6iJ8kL0m",
    "password": "hunter2-correct-horse-9Q",
    "slack": "xoxb-248102842094-2931840284021-aB3dE5fG7hJ9kL1mN3pQ5rS7",
    "url": "s3cr3tPassw0rdInUrl77",
    "key": "MIIEowIBAAKCAQEAx4Zb8Wn2mC0sQ7pYt1uVgLk3",
}
# How each is written where it comes in.
ASSIGNED = {
    "aws": "aws_access_key_id = '%s'",
    "github": "token = '%s'",
    "password": "password = '%s'",
    "slack": "slack_token = '%s'",
    "url": "database = 'postgres://app:%s@db.example.com/app'",
    "key": "key = \"\"\"-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----\"\"\"",
}
# Every way out, of a value that is only called v.
SPILL = """
import sys
print(v)
print(v, file=sys.stderr)
print("x" * 25000 + v + "y" * 25000)
open("out/text.txt", "w").write("plain " + v)
open("out/%s.bin", "wb").write(bytes(range(256)) + v.encode() + bytes(range(256)))
open("out/" + v, "w").write("one")
open("out/" + v + ".txt", "w").write("two")
sys.stdout.flush()
raise ValueError(v)
"""
KEEP_ALL = {"SANDBOX_STORE_CODE": "always", "BELLJAR_ARTIFACTS_FILES": "true", "BELLJAR_CHECK_POLICY": "off"}


def value_of(name):
    """Python that takes the bare value out of what was assigned."""
    return {"url": "v = database.split(':')[2].split('@')[0]", "key": "v = key.split('\\n')[1]"}.get(
        name, "v = " + ASSIGNED[name].split(" =")[0])


def look_everywhere(place, extra=()):
    """Every file under the state directory, whatever it is, and what else is handed in."""
    texts = list(place.all_bytes().items()) + [(name, text.encode() if isinstance(text, str) else text)
                                               for name, text in extra]
    assert any(str(name).endswith("belljar.db") for name, _ in texts)
    for where, data in texts:
        for name, secret in SECRETS.items():
            assert secret.encode() not in data, (name, where)
            assert secret not in str(where), (name, "is in the name of a file")
            # Nor a part of it that would do.
            assert secret[:-4].encode() not in data and secret[4:].encode() not in data, (name, where)


@pytest.fixture
def keeper(place):
    place.env.update(KEEP_ALL)
    return place


@pytest.mark.parametrize("name", SECRETS)
def test_in_the_script(keeper, name):
    script = ASSIGNED[name] % SECRETS[name] + "\n" + value_of(name) + "\n" + SPILL % name
    result = keeper.json(script)
    assert result["cause"] == "exited" and SECRETS[name] in result["stdout"], "the script did not print it"
    look_everywhere(keeper)
    assert any(b"*" * 6 in data for data in keeper.all_bytes().values())
    # And what reads the records.
    run = result["id"]
    look_everywhere(keeper, [(verb, keeper.cli(verb, *args).stdout) for verb, *args in
                             (("show", run), ("show", "--json", run), ("history", "--json"), ("audit", "export"),
                              ("diff", run, run), ("usage", "--json"))])


@pytest.mark.parametrize("name", [n for n in SECRETS if n != "key"])
def test_in_what_a_run_is_given(keeper, name):
    """Environment, arguments, standard input and files: none of them in the script's own text."""
    secret, assigned = SECRETS[name], ASSIGNED[name] % SECRETS[name]
    service = keeper.serve("check: {policy: off}\n", **KEEP_ALL)
    ways = [
        ("import os\nv = os.environ['V']\n", {"env": {"V": secret, assigned.split(" =")[0].upper(): secret}
                                             if name != "url" else
                                             {"V": secret, "DATABASE_URL": assigned.split("'")[1]}}),
        ("v = open('in.txt').read()\n", {"files": [{"name": "in.txt", "text": assigned}]}),
        ("import sys\nv = sys.stdin.read()\n", {"stdin": assigned}),
        ("import sys\nv = sys.argv[1]\n", {"args": [assigned]}),
    ]
    bare = f"v = v.split({secret[:3]!r}, 1)[1] if {secret[:3]!r} in v else v\nv = {secret[:3]!r} + v\nv = v[:{len(secret)}]\n"
    said = []
    for take, given in ways:
        answer = service.run(take + bare + SPILL % name, timeout=20, **given)
        assert secret in answer.json["stdout"], (given, answer.json["stderr"])
        run = answer.json["id"]
        said += [(path, service.ask("GET", path).body) for path in
                 (f"/v1/history/{run}", f"/v1/executions/{run}/artifacts", "/v1/history", "/metrics", "/v1/audit")]
        said += [(a["name"], service.ask("GET", f"/v1/executions/{run}/artifacts/{a['name']}").body)
                 for a in service.ask("GET", f"/v1/executions/{run}/artifacts").json["artifacts"]]
    log = service.said()
    look_everywhere(keeper, [*said, ("log", log)])
    service.stop()
    look_everywhere(keeper)


def test_of_runs_that_wait_and_of_decisions(keeper):
    """Sealed while it waits; masked once it was decided, in records, audit and metrics."""
    service = keeper.serve("check: {policy: off}\n", **KEEP_ALL)
    script = "\n".join(ASSIGNED[n] % s for n, s in SECRETS.items()) + "\nv = token\n" + SPILL % "x"
    runs = [service.run(script + f"# {i}", headers=AGENT, stdin=SECRETS["password"], args=[SECRETS["slack"]],
                        env={"API_KEY": SECRETS["github"], "DB_PASSWORD": SECRETS["password"]},
                        files=[{"name": "a", "text": "token = '%s'" % SECRETS["slack"]}]).json["id"] for i in range(4)]
    look_everywhere(keeper)
    service.ask("POST", f"/v1/executions/{runs[0]}/approve", {"reason": f"password='{SECRETS['password']}'"})
    service.ended(runs[0])
    service.ask("POST", f"/v1/executions/{runs[1]}/deny", {"reason": f"api_key = '{SECRETS['aws']}'"})
    keeper.cli("approve", "--no-service", "--reason", f"token = '{SECRETS['github']}'", runs[2])
    said = [(path, service.ask("GET", path).body) for path in
            ("/v1/history", "/metrics", "/v1/audit", *(f"/v1/history/{run}" for run in runs))]
    look_everywhere(keeper, [*said, ("log", service.said())])
    service.stop()
    look_everywhere(keeper)


def test_after_the_rows_are_gone(keeper):
    """Free pages and the write-ahead log give away no more than the rows did."""
    keeper.env["BELLJAR_RECORD_KEEP_TIME"] = "1s"
    for name in SECRETS:
        keeper.json(ASSIGNED[name] % SECRETS[name] + "\n" + value_of(name) + "\n" + SPILL % name)
    time.sleep(1.1)  # what is kept for a second is old now
    service = keeper.serve(**KEEP_ALL, BELLJAR_RECORD_KEEP_TIME="1s")
    until = time.monotonic() + 20
    while keeper.history():
        assert time.monotonic() < until
    look_everywhere(keeper)
    service.stop()
    look_everywhere(keeper)


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_while_it_runs_and_when_it_is_stopped(keeper, stop):
    """What a script writes beyond its result is on the disk under no name, and gone with the process."""
    script = keeper.script(ASSIGNED["github"] % SECRETS["github"] + "\nprint(token + 'x' * 60000, flush=True)\n"
                           "import time, sys\nprint('up', file=sys.stderr, flush=True)\ntime.sleep(60)\n")
    run = subprocess.Popen([BELLJAR, "run", "--no-service", script], env=keeper.env, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    while run.stderr.readline() != "up\n":
        pass
    look_everywhere(keeper)
    run.send_signal(stop)
    run.wait()
    keeper.history()
    look_everywhere(keeper)


def test_a_refused_script_is_told_without_its_secrets(place):
    """The answer itself: findings, message and source line."""
    for name, secret in SECRETS.items():
        done = place.run(ASSIGNED[name] % secret + "\n" + value_of(name) + "\nprint(v)\n", "--json")
        result = json.loads(done.stdout)
        assert result["cause"] == "rejected", (name, result)
        assert secret not in done.stdout + done.stderr, name
    look_everywhere(place)


def test_a_key_that_holds_a_line_of_stars(place):
    """What a secret is masked with is part of this one: it is masked once, and the run has an end."""
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{'Ab9' * 12}\n{'*' * 40}\n-----END RSA PRIVATE KEY-----"
    done = place.run(f"k = '''{key}'''\nprint(k)\n", "--json")
    assert json.loads(done.stdout)["cause"] == "rejected"
    assert "Ab9" * 12 not in done.stdout + done.stderr


@pytest.mark.parametrize("lead", range(3))
def test_a_cut_within_a_character_takes_no_record_away(place, lead):
    """AUDIT: a long value is masked up to a bound. A script must not lose its record by where that falls."""
    value = "aB3xK9zQ" + "x" * lead + "\u20ac" * 5600
    result = place.json(f"print('password = ' + chr(34) + {value!r} + chr(34))\nprint('end')\n", "--policy", "off")
    kept = place.show(result["id"])["result"]
    assert result["cause"] == "exited" and "end" in kept["stdout"] and "aB3xK9zQ" not in kept["stdout"]


def test_names_and_agents(keeper):
    """What people and agents call things can hold one, too."""
    service = keeper.serve("check: {policy: off}\n", **KEEP_ALL)
    service.run("print(1)", headers={"Belljar-Agent": f"password={SECRETS['password']}"})
    name = f"token={SECRETS['github']}.py"
    keeper.run("print(1)", name=name)
    os.unlink(keeper.top / name)
    look_everywhere(keeper, [("log", service.said()), ("audit", service.ask("GET", "/v1/audit").body)])


def test_names_that_look_alike_without_their_secrets_stay_apart(place):
    """VALD-03: a file is not lost because its name told a secret."""
    found = place.json("import os\nt = os.environ['TOKEN']\nfor n in (t, t[:-1] + 'x', t[:-1] + 'y', 'masked-1'):\n"
                       "    open('out/' + n, 'w').write(n[-1])\n", "--env", "TOKEN=" + SECRETS["github"], env=KEEP_ALL)
    files = {where.name: data for where, data in place.all_bytes().items() if where.parent.name == "files"}
    assert found["success"] and len(files) == 4 and files["masked-1"] == b"1"
    assert not any("ghp_x" in name for name in files), files
