# SPDX-License-Identifier: Apache-2.0
"""Runs over HTTP: SCRP-01, SCRP-08, SCRP-09, RESULT."""


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
