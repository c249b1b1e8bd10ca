# SPDX-License-Identifier: Apache-2.0
"""Runs over HTTP: SCRP-01, SCRP-07, SCRP-08, SCRP-09, RESULT, VALD-06."""
import base64
import json

import pytest


def test_python_runs(service):
    """SCRP-01, SCRP-08: the result object comes back when the run is done."""
    answer = service.run("import sys; print(6*7); print('e', file=sys.stderr)")
    assert answer.status == 200
    result = answer.json
    assert (result["stdout"], result["stderr"]) == ("42\n", "e\n")
    assert (result["state"], result["cause"], result["exit_code"]) == ("finished", "exited", 0)


def test_a_script_that_fails_is_200_with_its_cause(service):
    """SCRP-09"""
    answer = service.run("exit 3", "bash")
    assert answer.status == 200
    assert (answer.json["cause"], answer.json["exit_code"]) == ("exited", 3)


def test_a_script_that_is_refused_is_200_with_its_findings(service):
    """VALD-06: refused is an answer, not a failure of the service."""
    answer = service.run("api_key = 'secret123'")
    assert answer.status == 200
    assert answer.json["cause"] == "rejected"
    assert answer.json["validation_failed"]
    assert "secret123" not in answer.body.decode()


def test_timeout(service):
    """SCRP-07"""
    result = service.run("while True: pass", timeout=0.3).json
    assert (result["cause"], result["timeout"]) == ("timeout", True)


def test_a_long_timeout_is_cut_and_told(service):
    """SCRP-07"""
    result = service.run("print(1)", timeout="1h").json
    limits = result["meta"]["resource_limits"]
    assert limits["asked"]["timeout_seconds"] == 3600
    assert limits["effective"]["timeout_seconds"] == 300


def test_all_inputs_arrive(service):
    """SCRP-01: standard input, files, variables, arguments."""
    script = ("import os, sys\n"
              "print(sys.stdin.buffer.read(), os.environ['A'], open('a.txt').read(),\n"
              "      open('b.bin','rb').read(), sys.argv[1:])\n"
              "1/0\n")
    result = service.run(
        script, stdin={"base64": base64.b64encode(b"\x00\xff").decode()}, env={"A": "b c"},
        files=[{"name": "a.txt", "text": "é"},
               {"name": "b.bin", "base64": base64.b64encode(b"\x80").decode()}],
        args=["x", "y z"]).json
    assert result["stdout"] == "b'\\x00\\xff' b c é b'\\x80' ['x', 'y z']\n"


def test_limits_tighten(service):
    """SCRP-04: memory as text, CPUs, processes."""
    result = service.run("print(1)", memory="64MiB", cpus=0.5, pids=20, policy="strict",
                         network="none", backend="native", image="host", trust=False).json
    effective = result["meta"]["resource_limits"]["effective"]
    assert effective["memory_bytes"] == 64 << 20
    assert (effective["cpus"], effective["pids"]) == (0.5, 20)
    assert result["meta"]["policy"] == "strict"


@pytest.mark.parametrize("fields", [
    {"memory": "4GiB"},
    {"cpus": 8},
    {"pids": 5000},
    {"policy": "off"},
    {"trust": True},
    {"backend": "direct"},
    {"backend": "docker"},
    {"network": "host"},
    {"image": "other"},
    {"profile": "default", "memory": "1GiB"},
    {"profile": "analysis", "cpus": 1},
])
def test_loosening_is_403(service, fields):
    """TOOL: a request can only tighten."""
    answer = service.run("print(1)", **fields)
    assert answer.status == 403
    assert answer.json["type"] == "urn:belljar:problem:loosens"
    assert list(fields)[-1] in answer.json["detail"]


def test_a_profile_is_its_own_measure(service):
    """DS-CFG: a request may name a profile of the settings and use what it gives."""
    result = service.run("print(1)", profile="analysis", memory="1GiB").json
    effective = result["meta"]["resource_limits"]["effective"]
    assert effective["memory_bytes"] == 1 << 30
    assert effective["cpus"] == 0.5


def test_strict_settings_hold(serve):
    """TOOL: default is looser than strict."""
    it = serve(config="check: {policy: strict}\n").ready()
    assert it.run("print(1)", policy="default").status == 403
    assert it.run("print(1)").json["meta"]["policy"] == "strict"


@pytest.mark.parametrize("language, script", [("bash", "echo ${#A} ${#1}"), ("python", "import os, sys\nprint(len(os.environ['A']), len(sys.argv[1]))")])
def test_the_longest_words_that_fit(service, language, script):
    """What is taken can be run, cold and warm: an environment that no program starts with would be our failure."""
    done = service.run(script, language, env={"A": "a" * 131069}, args=["b" * 131071])
    assert done.json["stdout"] == "131069 131071\n", done.json


@pytest.mark.parametrize("body, word", [
    (b"", "JSON"),
    (b"[]", "object"),
    (b"{", "JSON"),
    (b"\xff", "JSON"),
    (b'{"script":"x","script":"y","language":"bash"}', "JSON"),
    ({"language": "bash"}, "script"),
    ({"script": "", "language": "bash"}, "script"),
    ({"script": "x"}, "language"),
    ({"script": "x", "language": "javascript"}, "Invalid script_type: javascript"),
    ({"script": "x", "language": "bash", "timeout": -1}, "limits.timeout"),
    ({"script": "x", "language": "bash", "timeout": 0}, "limits.timeout"),
    ({"script": "x", "language": "bash", "timeout": "0" * 61 + "5s, or lots"}, "timeout"),
    ({"script": "x", "language": "bash", "timeout": 1e200}, "timeout"),
    ({"script": "x", "language": "bash", "memory": "lots"}, "limits.memory"),
    ({"script": "x", "language": "bash", "memory": 1}, "limits.memory"),
    ({"script": "x", "language": "bash", "pids": True}, "pids"),
    ({"script": "x", "language": "bash", "env": {"A=B": "c"}}, "env"),
    ({"script": "x", "language": "bash", "env": {"A": "b\0c"}}, "env"),
    ({"script": "x", "language": "bash", "env": []}, "env"),
    ({"script": "x", "language": "bash", "args": "a"}, "args"),
    ({"script": "x", "language": "bash", "args": ["a" * 131072]}, "args: more than 128 KiB"),
    ({"script": "x", "language": "bash", "env": {"A": "a" * 131070}}, "env: more than 128 KiB"),
    ({"script": "x", "language": "bash", "args": ["a" * 100000] * 11}, "1 MiB in all"),
    ({"script": "x", "language": "bash", "files": [{"name": "../a", "text": ""}]}, "files"),
    ({"script": "x", "language": "bash", "files": [{"name": "out", "text": ""}]}, "files"),
    ({"script": "x", "language": "bash", "files": [{"name": "a"}]}, "files"),
    ({"script": "x", "language": "bash", "files": [{"name": "a", "text": "", "base64": ""}]}, "files"),
    ({"script": "x", "language": "bash",
      "files": [{"name": "a", "text": ""}, {"name": "a", "text": ""}]}, "same name"),
    ({"script": "x", "language": "bash", "stdin": {"base64": "*"}}, "base64"),
    ({"script": "x", "language": "bash", "profile": "none"}, "profile"),
    ({"script": "x", "language": "bash", "policy": "lax"}, "policy"),
    ({"script": "x", "language": "bash", "tiemout": 1}, "did you mean timeout"),
])
def test_a_wrong_request_is_400_and_says_why(service, body, word):
    """SCRP-07: one sentence that names the field."""
    answer = service.ask("POST", "/v1/executions", body)
    assert answer.status == 400
    assert word in answer.json["detail"]


def test_other_media_types_are_415(service):
    answer = service.ask("POST", "/v1/executions", b"script=1",
                         {"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status == 415


def test_unknown_paths_and_methods(service):
    assert service.ask("GET", "/v2").status == 404
    assert service.ask("GET", "/v1/executions/" + "0" * 32).status == 404
    assert service.ask("GET", "/v1/executions/" + "0" * 100).status == 404
    answer = service.ask("PUT", "/v1/executions", {})
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST, GET"


def test_own_failure_is_500_with_the_result(serve):
    """EXIT: an interpreter that is missing is belljar's failure, not the script's."""
    config = "native: {python: /usr/bin/python-none}\nwarm: {slots: 0}\n"
    answer = serve(config=config).ready().run("print(1)")
    assert answer.status == 500
    assert answer.json["type"] == "urn:belljar:problem:no-interpreter"
    assert answer.json["result"]["cause"] == "infrastructure"


def test_nothing_is_shared_between_requests_of_a_connection(service):
    """SCRP-06: one connection, many runs."""
    conn = service.connect()
    ids = set()
    for i in range(5):
        answer = service.ask("POST", "/v1/executions",
                             {"script": f"echo {i} >> /tmp/f; cat /tmp/f", "language": "bash"},
                             connection=conn)
        assert answer.json["stdout"] == f"{i}\n"
        ids.add(answer.json["id"])
    assert len(ids) == 5


def test_check_finds_and_does_not_run(service):
    """VALD-06, VALD-01: findings and risk, no side of the script's own."""
    answer = service.ask("POST", "/v1/check", {"script": "print('ran')", "language": "python"})
    assert answer.status == 200
    assert answer.json["stdout"] == ""
    assert not answer.json["validation_failed"]
    answer = service.ask("POST", "/v1/check", {"script": "def foo(", "language": "python"})
    assert answer.json["validation_failed"]
    assert answer.json["findings"][0]["layer"] == "syntax"


def test_same_result_as_the_command_line(service):
    """RESULT: one shape everywhere."""
    import subprocess
    from serving import BELLJAR, ENV
    done = subprocess.run([BELLJAR, "run", "--no-service", "--json", "-l", "python", "-"],
                          input=b"print(1)", capture_output=True, check=True,
                          env=dict(ENV))
    local, remote = json.loads(done.stdout), service.run("print(1)").json

    def shape(node):
        if isinstance(node, dict):
            return {key: shape(value) for key, value in node.items()}
        return type(node).__name__

    assert shape(local) == shape(remote)
