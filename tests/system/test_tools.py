# SPDX-License-Identifier: Apache-2.0
"""Tools for agents on the command line: discovered, called, bounded. TOOL, APPROVE, VALD-06."""
import json
import os
import pathlib
import pty
import shutil
import subprocess

import pytest

BELLJAR = os.environ["BELLJAR"]
FORMATS = ["mcp", "openai", "openai-responses", "anthropic", "json-schema"]


def belljar(*args, **kwargs):
    return subprocess.run([BELLJAR, *args], capture_output=True, text=True, timeout=60, **kwargs)


@pytest.fixture
def config(tmp_path):
    """A settings file with a state of its own; write() adds to it."""
    path = tmp_path / "config.yaml"

    def write(more=""):
        path.write_text(f"state_dir: {tmp_path}/state\n{more}")
        return str(path)

    return write


def call(config_file, name, arguments, *options):
    return belljar("tool", "call", "--config", config_file, *options, name, json.dumps(arguments))


def test_every_format_lists_the_same_tools():
    names = {}
    for form in FORMATS:
        done = belljar("tools", "--format", form)
        assert done.returncode == 0
        names[form] = [t.get("name") or t["function"]["name"] for t in json.loads(done.stdout)]
    assert len(set(map(tuple, names.values()))) == 1
    assert {"execute_script", "run_python_code", "check_script"} <= set(names["mcp"])


def test_declared_risk_and_parameters_are_documented():
    tools = {t["name"]: t for t in json.loads(belljar("tools", "--format", "json-schema").stdout)}
    assert tools["execute_script"]["declared_risk"] == "high"
    assert tools["run_python_code"]["declared_risk"] == "medium"
    assert list(tools["execute_script"]["parameters"]["properties"]) == [
        "script_content", "script_type", "timeout"]
    for tool in tools.values():
        assert len(tool["description"]) > 60
        assert tool["parameters"]["additionalProperties"] is False
        for parameter in tool["parameters"]["properties"].values():
            assert len(parameter["description"]) > 20


def test_the_declared_need_for_approval_is_what_the_default_rules_do(config):
    """TOOL, APPROVE: a harmless call waits for a person or not, as the table says."""
    harmless = {"script_content": "print(1)", "script_type": "python", "code": "print(1)"}
    seen = {}
    for tool in json.loads(belljar("tools", "--format", "json-schema").stdout):
        arguments = {k: harmless[k] for k in tool["parameters"]["properties"] if k in harmless}
        if arguments:
            answer = json.loads(call(config(), tool["name"], arguments, "--json").stdout)
            seen[tool["name"]] = (tool["needs_approval"], answer.get("state") == "pending")
        else:
            assert not tool["needs_approval"]
    assert seen == {"execute_script": (True, True), "run_python_code": (False, False), "check_script": (False, False)}


def test_plain_list_is_for_people():
    done = belljar("tools")
    assert "execute_script: Run a script (declared risk high, waits for approval by default)" in done.stdout
    assert "run_python_code: Run Python code (declared risk medium)" in done.stdout


def test_unknown_format_names_those_there_are():
    done = belljar("tools", "--format", "xml")
    assert done.returncode == 125
    assert "mcp, openai" in done.stderr
    assert belljar("tools", "extra").returncode == 125


def test_a_call_prints_what_an_agent_reads(config):
    done = call(config(), "run_python_code", {"code": "print(6 * 7)"})
    assert done.returncode == 0
    assert done.stdout.startswith("The script succeeded: exit code 0")
    assert done.stdout.endswith("stdout:\n42\n")


def test_a_result_is_told_alike_at_once_and_later(config):
    """TOOL: also how much of a long output was left out."""
    file = config("limits: {max_output: 4KiB}\ntool: {max_text: 2KiB}\nstore_code: always\n")
    for code in ("print('x' * 300000)", "raise ValueError('ä')", "def f(", "print(1)"):
        at_once = call(file, "run_python_code", {"code": code})
        run = json.loads(belljar("history", "--config", file, "--json", "--limit", "1").stdout)["id"]
        later = call(file, "read_result", {"id": run})
        assert (later.stdout, later.returncode) == (at_once.stdout, at_once.returncode)


def test_a_run_that_was_interrupted_never_ends(config, tmp_path):
    """TOOL: nobody is told to ask again for a result that cannot come."""
    script = tmp_path / "s.py"
    script.write_text("print('up', flush=True)\nimport time\ntime.sleep(60)\n")
    with subprocess.Popen([BELLJAR, "run", "--no-service", "--config", config(), script], stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"up\n"
        run.kill()
    kept = json.loads(belljar("history", "--config", config(), "--json", "--limit", "1").stdout)
    assert kept["state"] == "interrupted"
    done = call(config(), "read_result", {"id": kept["id"]})
    assert done.returncode == 1 and "was interrupted" in done.stdout and "Ask again" not in done.stdout
    assert json.loads(call(config(), "read_result", {"id": kept["id"]}, "--json").stdout)["result"] is None


def test_json_gives_the_result_object(config):
    done = call(config(), "run_python_code", {"code": "print(1)"}, "--json")
    result = json.loads(done.stdout)
    assert (result["stdout"], result["exit_code"], result["cause"]) == ("1\n", 0, "exited")


def test_arguments_from_standard_input(config):
    done = belljar("tool", "call", "--config", config(), "check_script", "-",
                   input=json.dumps({"script_content": "def foo(", "script_type": "python"}))
    assert "This script would be refused: Python syntax error" in done.stdout
    assert "line 1: " in done.stdout


@pytest.mark.parametrize("arguments, says", [
    ({"script_content": "x", "script_type": "javascript"},
     "Invalid script_type: javascript. Must be 'python' or 'bash'"),
    ({"script_content": "x", "script_type": 5}, "Invalid script_type: not a text."),
    ({"script_type": "bash"}, "script_content is missing"),
    ({"script_content": "", "script_type": "bash"}, "script_content must be a text"),
    ({"script_content": "x", "script_type": "bash", "timeout": 0}, "greater than zero"),
    ({"script_content": "x", "script_type": "bash", "timeout": "5"}, "greater than zero"),
    ({"script_content": "x", "script_type": "bash", "timeut": 5}, "did you mean timeout"),
    ([], "the arguments must be an object"),
])
def test_wrong_arguments_are_named(config, arguments, says):
    done = call(config(), "execute_script", arguments)
    assert done.returncode == 1
    assert says in done.stdout


@pytest.mark.parametrize("name", ["trust", "policy", "backend", "memory", "image", "network"])
def test_nothing_that_loosens_is_a_parameter(config, name):
    done = call(config(), "run_python_code", {"code": "1", name: "off"})
    assert done.returncode == 1
    assert f"run_python_code has no parameter {name}" in done.stdout


def test_a_longer_timeout_is_cut_and_told(config):
    done = call(config("limits: {max_timeout: 1s, timeout: 1s}\n"), "run_python_code",
                {"code": "while True: pass", "timeout": 90})
    assert "Code execution timed out after 1s" in done.stdout
    assert "The timeout of 90 s was cut to the 1 s that are allowed." in done.stdout
    assert "Hint: do less work" in done.stdout


def test_a_refusal_says_lines_and_what_to_change(config):
    done = call(config(), "run_python_code", {"code": "import os\nos.system('ls')"})
    assert done.stdout.startswith("Refused, nothing ran: ")
    assert "\nline 2: " in done.stdout
    assert "Hint: change the lines named below" in done.stdout


@pytest.mark.parametrize("size", [1024, 5000])
def test_the_text_is_never_longer_than_the_setting(config, size):
    done = call(config(f"tool: {{max_text: {size}}}\n"), "run_python_code",
                {"code": "import sys\nfor i in range(3000): print('ä', i); print(i, file=sys.stderr)"})
    assert len(done.stdout.encode()) <= size + 1
    assert "bytes left out ...]" in done.stdout
    assert "\n2999\n" in done.stdout


def test_execute_script_waits_for_a_person_by_default(config):
    done = call(config(), "execute_script", {"script_content": "echo hi", "script_type": "bash"})
    assert done.returncode == 0
    assert "Not run yet: this script waits for a person's approval as run " in done.stdout


def test_rules_can_let_it_through(config):
    done = call(config("approval: {rules: []}\n"), "execute_script",
                {"script_content": "echo hi", "script_type": "bash"})
    assert "stdout:\nhi\n" in done.stdout


def test_unknown_tools_and_bad_json(config):
    done = call(config(), "execute_scrip", {})
    assert done.returncode == 125
    assert "did you mean execute_script" in done.stderr
    assert belljar("tool", "call", "check_script", "{").returncode == 125
    assert belljar("tool", "call", "check_script", '{"a":1,"a":2}').returncode == 125
    assert "belljar tool call NAME JSON" in belljar("tool", "run").stderr


# --- mcp --install ---------------------------------------------------------------------------------

PLACES = {"claude": ".claude.json", "cursor": ".cursor/mcp.json",
          "vscode": ".config/Code/User/mcp.json", "codex": ".codex/config.toml"}


def install(home, client, *more, **kwargs):
    env = {k: v for k, v in os.environ.items() if k not in ("XDG_CONFIG_HOME", "CODEX_HOME")}
    return belljar("mcp", "--install", client, *more, env={**env, "HOME": str(home)}, **kwargs)


@pytest.mark.parametrize("client", PLACES)
def test_install_into_nothing_then_again(tmp_path, client):
    """A fresh configuration works, and a second time changes nothing."""
    place = tmp_path / PLACES[client]
    done = install(tmp_path, client, "--yes")
    assert done.returncode == 0, done.stderr
    assert str(place) in done.stdout and BELLJAR in done.stdout
    text = place.read_text()
    assert BELLJAR in text and '["mcp"]' in text
    assert place.stat().st_mode & 0o777 == 0o600
    again = install(tmp_path, client, "--yes")
    assert "nothing to do" in again.stdout
    assert place.read_text() == text


def test_install_keeps_other_entries_and_comments(tmp_path):
    place = tmp_path / PLACES["vscode"]
    place.parent.mkdir(parents=True)
    place.write_text('{\n\t// my servers\n\t"servers": {\n\t\t"a": {"command": "x"}, /* first */\n\t},\n}\n')
    place.chmod(0o644)
    assert install(tmp_path, "vscode", "--yes").returncode == 0
    text = place.read_text()
    assert "// my servers" in text and '"a": {"command": "x"}, /* first */' in text
    assert place.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("client, broken", [
    ("cursor", '{"mcpServers": {'), ("claude", "[]"), ("vscode", '{"servers": 3}'), ("codex", "nonsense\n")])
def test_a_broken_configuration_is_refused_and_untouched(tmp_path, client, broken):
    place = tmp_path / PLACES[client]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(broken)
    done = install(tmp_path, client, "--yes")
    assert done.returncode == 125
    assert "nothing was changed" in done.stderr
    assert place.read_text() == broken
    assert [p.name for p in place.parent.iterdir() if "belljar-" in p.name] == []


@pytest.mark.parametrize("client", PLACES)
def test_a_path_that_is_no_text_breaks_no_configuration(tmp_path, client):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    os.mkdir(odd)
    pathlib.Path(odd, "c.yaml").write_text("")
    shutil.copy(BELLJAR, odd)
    ways = (install(tmp_path, client, "--yes", "--config", odd + "/c.yaml"),
            subprocess.run([odd + "/belljar", "mcp", "--install", client, "--yes"], capture_output=True, text=True,
                           env={**os.environ, "HOME": str(tmp_path)}, timeout=60))
    for done in ways:
        assert done.returncode == 125 and "UTF-8" in done.stderr
    assert not (tmp_path / PLACES[client]).exists()


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (tmp_path / ".claude.json").symlink_to(real)
    assert install(tmp_path, "claude", "--yes").returncode == 0
    assert (tmp_path / ".claude.json").is_symlink()
    assert "belljar" in real.read_text()


def test_without_a_terminal_it_asks_for_yes(tmp_path):
    done = install(tmp_path, "cursor", stdin=subprocess.DEVNULL)
    assert done.returncode == 125 and "--yes" in done.stderr
    assert not (tmp_path / PLACES["cursor"]).exists()
    assert "say claude, cursor" in install(tmp_path, "emacs", "--yes").stderr


@pytest.mark.parametrize("answer, written", [("y\n", True), ("n\n", False), ("\n", False)])
def test_on_a_terminal_it_asks(tmp_path, answer, written):
    leader, follower = pty.openpty()
    os.write(leader, answer.encode())
    done = install(tmp_path, "cursor", stdin=follower)
    os.close(leader)
    os.close(follower)
    assert "Write this? [y/N]" in done.stdout
    assert (tmp_path / PLACES["cursor"]).exists() == written


def test_a_settings_file_goes_along(tmp_path, config):
    path = config()
    assert install(tmp_path, "cursor", "--yes", "--config", path).returncode == 0
    entry = json.loads((tmp_path / PLACES["cursor"]).read_text())["mcpServers"]["belljar"]
    assert entry["args"] == ["mcp", "--config", path]
    assert pathlib.Path(entry["command"]).is_absolute()


LEAVES = "open('out/a b.txt', 'w').write('left äö')\nopen('out/c.bin', 'wb').write(bytes(range(256)) * 40)"


def test_what_a_run_left_is_listed_and_read_in_parts(config):
    """SX-OUT: files and the full output, on the command line, over calls that share the store."""
    file = config("artifacts: {files: true}\ntool: {max_text: 4KiB}\n")
    run = json.loads(call(file, "run_python_code", {"code": LEAVES}, "--json").stdout)["id"]
    listed = call(file, "list_artifacts", {"id": run})
    assert listed.returncode == 0 and "files/a b.txt: 9 bytes" in listed.stdout
    data = json.loads(call(file, "list_artifacts", {"id": run}, "--json").stdout)
    assert {"name": "files/c.bin", "bytes": 10240} in data["artifacts"]
    part = json.loads(call(file, "read_artifact", {"id": run, "name": "files/a b.txt"}, "--json").stdout)
    assert part == {"name": "files/a b.txt", "offset": 0, "bytes": 9, "more": False, "text": "left äö"}
    offset, parts = 0, 0
    while True:
        done = call(file, "read_artifact", {"id": run, "name": "files/c.bin", "offset": offset})
        first, _, _ = done.stdout.partition("\n")
        parts += 1
        assert first.startswith(f"files/c.bin, bytes {offset} to ") and len(done.stdout.encode()) <= 4096
        offset = int(first.split(" to ")[1].split()[0])
        if "ask again" not in first:
            break
    assert offset == 10240 and parts > 1


@pytest.mark.parametrize("name, arguments, words", [
    ("list_artifacts", {"id": "0" * 32}, "there is no run 0000"), ("list_artifacts", {}, "id is missing"),
    ("list_artifacts", {"id": "x" * 5000}, "there is no run"),
    ("read_artifact", {"id": "RUN", "name": "nothing"}, "has no artifact nothing"),
    ("read_artifact", {"id": "RUN", "name": "../../records/belljar.db"}, "has no artifact"),
    ("read_artifact", {"id": "RUN", "name": "files/../result.json"}, "has no artifact"),
    ("read_artifact", {"id": "RUN", "name": "n" * 300}, "longer than 255"),
    ("read_artifact", {"id": "RUN", "name": "script", "offset": 10 ** 9}, "ends at byte"),
    ("read_artifact", {"id": "RUN", "name": "script", "offset": -1}, "offset")])
def test_artifacts_that_are_not_there(config, name, arguments, words):
    file = config("store_code: always\n")
    run = json.loads(call(file, "run_python_code", {"code": "print(1)"}, "--json").stdout)["id"]
    done = call(file, name, {k: run if v == "RUN" else v for k, v in arguments.items()})
    assert done.returncode == 1 and words in done.stdout


@pytest.mark.parametrize("format", [(), ("--format", "mcp")])
def test_a_list_that_could_not_be_written_is_no_success(format):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BELLJAR, "tools", *format], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (125, "belljar: cannot write to standard output\n")


def test_an_answer_that_could_not_be_written_is_no_success(config):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BELLJAR, "tool", "call", "--config", config(), "run_python_code",
                               '{"code": "print(1)"}'], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 125 and done.stderr.startswith("belljar: cannot write to standard output")
