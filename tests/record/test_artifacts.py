# SPDX-License-Identifier: Apache-2.0
"""SX-ART: artifacts beside the record of a run; VALD-03: no secret in any byte that is kept."""
import hashlib
import json
import re

import pytest

from keeping import AGENT

SECRETS = {
    "aws": "AKIAQYLPMN5HFIQR7XYA",
    "github": "ghp_x7Kq2mVbN9pLrT4wYzA1cD3eF5gH6iJ8kL0m",
    "password": "hunter2-correct-horse-9Q",
}
LEAK = (f"aws = '{SECRETS['aws']}'\ntoken = '{SECRETS['github']}'\npassword = '{SECRETS['password']}'\n"
        "print('key', aws)\nprint('token=' + token)\nprint('password=' + repr(password))\n"
        "raise ValueError('password=' + repr(password))\n")


def test_a_failed_run_keeps_code_and_result(place):
    """SX-ART: on_error is the default; time and hash in the name."""
    script = "print('so far')\nraise SystemExit(3)\n"
    run = place.json(script)
    (folder, files), = place.artifacts().items()
    digest = hashlib.sha256(script.encode()).hexdigest()
    assert re.fullmatch(rf"\d{{8}}T\d{{6}}Z-{digest[:12]}-{run['id']}", folder)
    kept = json.loads(files["result.json"])
    assert kept["code"] == script and kept["result"]["exit_code"] == 3 and files["script"].decode() == script
    assert place.history()[0]["artifacts"] is True


def test_a_good_run_keeps_none_by_default(place):
    place.json("print('fine')")
    assert place.artifacts() == {} and place.show(place.history()[0]["id"])["script"] is None


def test_always(place):
    place.json("print('fine')", env={"SANDBOX_STORE_CODE": "always"})
    (_, files), = place.artifacts().items()
    assert json.loads(files["result.json"])["code"] == "print('fine')"


def test_never_keeps_only_the_hash(place):
    """SX-ART: not in records, artifacts, findings or what the interpreter printed."""
    mark = "marker_" + "q7" * 8
    for text in (f"{mark} = 1\nraise ValueError({mark})\n", f"import os\nprint('{mark}')\n",
                 f"def {mark}(\n", f"eval('{mark}')\n"):
        run = place.json(text, env={"SANDBOX_STORE_CODE": "never"})
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert place.show(run["id"])["script_sha256"] == digest
    for path, data in place.all_bytes().items():
        assert mark.encode() not in data, path
    assert place.artifacts() == {}


def test_full_output_beyond_the_truncated(place):
    """SX-OUT: all of it up to the cap, on success too."""
    run = place.json("for i in range(9000): print('line', i)")
    assert run["meta"]["truncated"]["stdout"] is True
    (_, files), = place.artifacts().items()
    assert files["stdout"] == b"".join(b"line %d\n" % i for i in range(9000))
    assert json.loads(files["result.json"])["code"] is None and "stderr" not in files


def test_a_secret_anywhere_in_a_long_output(place):
    """VALD-03: long output is masked piece by piece; a secret may lie across any two of them."""
    half = len(SECRETS["github"]) // 2
    hidden = bytes(b ^ 1 for b in SECRETS["github"].encode()).hex()
    place.json(f"""
import sys
token = bytes(b ^ 1 for b in bytes.fromhex({hidden!r})).decode()
at = 0
for end in ((1 << 20) - (64 << 10), 1 << 20, 2 << 20):
    at += sys.stdout.write("." * (end - at - {half} - 1) + "\\n")
    at += sys.stdout.write(token + "\\n")
""")
    (_, files), = place.artifacts().items()
    assert len(files["stdout"]) > 2 << 20 and files["stdout"].count(b"\n") == 6
    assert SECRETS["github"].encode()[:12] not in files["stdout"]
    assert SECRETS["github"].encode()[-12:] not in files["stdout"]


def test_the_cap_in_bytes(place):
    place.json("print('x' * 200000)", env={"BELLJAR_ARTIFACTS_MAX_BYTES": "50KiB"})
    (_, files), = place.artifacts().items()
    assert len(files["stdout"]) == 50 << 10


def test_files_that_a_script_left(place):
    service = place.serve("artifacts: {files: true}\n")
    run = service.run("open('out/a.txt', 'w').write('left')\nopen('out/b.bin', 'wb').write(bytes(range(256)))").json
    names = {a["name"]: a["bytes"] for a in
             service.ask("GET", f"/v1/executions/{run['id']}/artifacts").json["artifacts"]}
    assert names["files/a.txt"] == 4 and names["files/b.bin"] == 256
    got = service.ask("GET", f"/v1/executions/{run['id']}/artifacts/files/b.bin")
    assert got.status == 200 and got.body == bytes(range(256))
    assert got.headers["Content-Type"] == "application/octet-stream"
    service.run("print('none')")
    assert not [n for n in place.artifacts() if n.startswith(".")]


@pytest.mark.soak
def test_what_is_too_large_to_mask_is_not_kept(place):
    """VALD-03: not even where the settings allow files of that size."""
    service = place.serve("artifacts: {files: true, max_bytes: 4GiB}\n"
                          "limits: {tmp_size: 2GiB, out_bytes: 4GiB, memory: 2GiB}\n")
    run = service.run("import os\nf = open('out/big', 'wb')\nf.write(os.environ['T'].encode())\n"
                      "f.truncate((1 << 30) + 1)\nopen('out/small', 'w').write('x')", env={"T": SECRETS["github"]}).json
    names = {a["name"] for a in service.ask("GET", f"/v1/executions/{run['id']}/artifacts").json["artifacts"]}
    assert "files/small" in names and "files/big" not in names
    (_, files), = place.artifacts().items()
    assert json.loads(files["result.json"])["cut"] is True


@pytest.mark.parametrize("name", ["nothing", "files/nothing", "../x", "files/../../../records/seal.key", ".hidden"])
def test_no_way_out_of_the_folder(place, name):
    service = place.serve()
    run = service.run("raise SystemExit(1)").json["id"]
    assert service.ask("GET", f"/v1/executions/{run}/artifacts/{name}").status == 404


def test_artifacts_over_http(place):
    service = place.serve()
    run = service.run("print('no')\nraise SystemExit(1)").json["id"]
    names = [a["name"] for a in service.ask("GET", f"/v1/executions/{run}/artifacts").json["artifacts"]]
    assert sorted(names) == ["result.json", "script"]
    body = service.ask("GET", f"/v1/executions/{run}/artifacts/result.json").body
    assert json.loads(body)["result"]["stdout"] == "no\n"
    good = service.run("print(1)").json["id"]
    assert service.ask("GET", f"/v1/executions/{good}/artifacts").json == {"artifacts": []}
    assert service.ask("GET", "/v1/executions/none/artifacts").status == 404
