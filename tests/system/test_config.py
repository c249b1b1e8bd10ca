# SPDX-License-Identifier: Apache-2.0
"""The settings, through the program: CFG, DS-CFG."""
import json
import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))
NO_HOME = {"HOME": "/nowhere", "PATH": "/usr/bin:/bin"}


def config(*args, env=None, **kwargs):
    return subprocess.run([BELLJAR, "config", *args], env={**NO_HOME, **(env or {})}, text=True,
                          capture_output=True, timeout=20, **kwargs)


def shown(*args, env=None):
    """{key: (value, origin)}"""
    done = config("--show", "--json", *args, env=env)
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]
    return {key: (entry["value"], entry["origin"]) for key, entry in settings.items()}


def test_defaults_are_built_in():
    """CFG"""
    values = shown()
    assert values["limits.memory"] == ("512MiB", "built in")
    assert {origin for _, origin in values.values()} == {"built in"}


def test_every_place_is_named(tmp_path):
    """CFG: --show tells file and line, variable and profile apart."""
    file = tmp_path / "b.yaml"
    file.write_text("profile: analysis\nlimits:\n  pids: 7\n")
    values = shown("--file", str(file), env={"DOCKER_CPU_LIMIT": "2"})
    assert values["limits.pids"] == ("7", f"{file}:3")
    assert values["limits.cpus"] == ("2", "DOCKER_CPU_LIMIT")
    assert values["limits.memory"] == ("2GiB", "profile analysis")
    assert values["limits.timeout"] == ("600s", "profile analysis")


def test_plain_show_is_yaml_with_origins():
    """CFG"""
    done = config(env={"SANDBOX_TIMEOUT_SEC": "5"})
    lines = [line for line in done.stdout.splitlines() if line.startswith("limits.timeout:")]
    assert [line.split() for line in lines] == [["limits.timeout:", "5s", "#", "SANDBOX_TIMEOUT_SEC"]]


def test_explanation_loads(tmp_path):
    """CFG: what --explain prints can be edited and used."""
    done = config("--explain")
    file = tmp_path / "b.yaml"
    file.write_text(done.stdout)
    assert config("--check", "--file", str(file)).returncode == 0
    with_file, without = shown("--file", str(file)), shown()
    assert {k: v for k, (v, _) in with_file.items()} == {k: v for k, (v, _) in without.items()}


@pytest.mark.parametrize("env, words", [
    ({"SANDBOX_TYPE": "e2b"}, ["SANDBOX_TYPE", "backend", "later version"]),
    ({"SANDBOX_TIMEOUT_SEC": "nan"}, ["SANDBOX_TIMEOUT_SEC", "limits.timeout", "allowed:"]),
    ({"SANDBOX_MAX_OUTPUT_KB": "2KB"}, ["SANDBOX_MAX_OUTPUT_KB", "allowed: a whole number of KiB, from 1 to 1048576"]),
    ({"SANDBOX_MAX_OUTPUT_KB": "0"}, ["SANDBOX_MAX_OUTPUT_KB", "allowed: a whole number of KiB, from 1 to 1048576"]),
    ({"SANDBOX_MAX_OUTPUT_KB": "1048577"}, ["SANDBOX_MAX_OUTPUT_KB", "allowed: a whole number of KiB, from 1 to 1048576"]),
    ({"BELLJAR_LIMITS_OUTPUT_CAP": "4k"}, ["BELLJAR_LIMITS_OUTPUT_CAP: limits.output_cap: less than limits.max_output"]),
    ({"BELLJAR_LIMITS_MAX_OUTPUT": "1G"}, ["BELLJAR_LIMITS_MAX_OUTPUT: limits.max_output: more than limits.output_cap"]),
    ({"BELLJAR_NATIVE_UID_BASE": "2147000000"}, ["BELLJAR_NATIVE_UID_BASE: native.uid_base: "]),
    ({"BELLJAR_NATIVE_PYTHON": "/usr/../x"}, ["an absolute path with no part \"..\""]),
    ({"DOCKER_MEMORY_LIMIT": "3"}, ["DOCKER_MEMORY_LIMIT", "limits.memory", "from 16MiB"]),
    ({"BELLJAR_PROFILE": "none"}, ["BELLJAR_PROFILE", "default, analysis"]),
    ({"BELLJAR_CONFIG": "/nowhere/b.yaml"}, ["/nowhere/b.yaml", "BELLJAR_CONFIG"]),
])
def test_wrong_variable_is_named(env, words):
    """CFG, SX-E2B: one sentence, status 125, nothing on standard output."""
    done = config("--check", env=env)
    assert done.returncode == 125
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


def test_wrong_file_is_named(tmp_path):
    """CFG: file and line, key, what is allowed."""
    file = tmp_path / "b.yaml"
    file.write_text("limits:\n  memory: 1k\n")
    done = config("--check", "--file", str(file))
    assert done.returncode == 125
    assert f"{file}:2: limits.memory" in done.stderr
    assert "from 16MiB to 1TiB" in done.stderr


@pytest.mark.parametrize("key, near", [
    ("timeout", "limits.timeout"),  # the right word without its section
    ("memroy", "limits.memory"),
    ("zygote_of_nothing", "--explain"),
])
def test_the_nearest_setting_is_named(tmp_path, key, near):
    """CFG: a wrong word, also without its section."""
    file = tmp_path / "b.yaml"
    file.write_text(f"{key}: 1\n")
    done = config("--check", "--config", str(file))
    assert done.returncode == 125
    assert "there is no such setting" in done.stderr and near in done.stderr


@pytest.mark.parametrize("text", ["limits:\n  foo: 1\n", "profiles:\n  small:\n    foo: 1\n"])
def test_a_word_that_is_like_none_is_like_none(tmp_path, text):
    """CFG: the section that is right makes no wrong word nearly right."""
    file = tmp_path / "b.yaml"
    file.write_text(text)
    err = config("--check", "--config", str(file)).stderr
    assert "there is no such setting" in err and "did you mean" not in err and "--explain" in err


def test_file_of_the_current_directory_is_not_read(tmp_path):
    """CFG: a file that an agent may have left must not loosen the jar."""
    (tmp_path / "belljar.yaml").write_text("limits: {pids: 5}\n")
    (tmp_path / "config.yaml").write_text("limits: {pids: 5}\n")
    done = config("--json", cwd=tmp_path)
    assert json.loads(done.stdout)["file"] is None


def test_file_of_the_user_is_read(tmp_path):
    """CFG"""
    folder = tmp_path / ".config/belljar"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("log_level: debug\n")
    assert shown(env={"HOME": str(tmp_path)})["log_level"][0] == "debug"


def test_path_that_is_no_utf8_shows_as_json():
    """CFG"""
    done = subprocess.run([BELLJAR, "config", "--json"], capture_output=True, timeout=20,
                          env={**NO_HOME, "BELLJAR_STATE_DIR": b"/var/\xff"})
    assert json.loads(done.stdout)["settings"]["state_dir"]["value"] == "/var/?"


@pytest.mark.parametrize("profile, memory, cpus, timeout", [
    ("default", "512MiB", "1", "60s"),
    ("analysis", "2GiB", "0.5", "600s"),
])
def test_profiles_ship(profile, memory, cpus, timeout):
    """DS-CFG"""
    values = shown(env={"BELLJAR_PROFILE": profile})
    assert values["limits.memory"][0] == memory
    assert values["limits.cpus"][0] == cpus
    assert values["limits.timeout"][0] == timeout


def test_production_example_loads():
    """DS-CFG: the commented example is right."""
    values = shown("--config", str(TOP / "examples/production.yaml"))
    assert values["limits.memory"][0] == "256MiB"
    assert "profile agent" in values["limits.memory"][1]
    assert values["limits.max_timeout"][0] == "120s"


def test_env_example_is_accepted():
    """CFG: every line of .env.example, taken as it stands, is a value that is allowed."""
    lines = [line[1:] for line in (TOP / ".env.example").read_text().splitlines()
             if line.startswith(("#BELLJAR_", "#SANDBOX_", "#DOCKER_"))]
    env = dict(line.split("=", 1) for line in lines)
    for name in ("SANDBOX_TYPE", "SANDBOX_TIMEOUT_SEC", "SANDBOX_MAX_OUTPUT_KB",
                 "SANDBOX_BLOCK_DANGEROUS_IMPORTS", "SANDBOX_STORE_CODE", "DOCKER_CPU_LIMIT",
                 "DOCKER_MEMORY_LIMIT", "DOCKER_IMAGE"):
        assert name in env
    values = shown(env=env)
    assert values["limits.max_output"][0] == "20KiB"
    assert {key: value for key, (value, _) in values.items()} == \
        {key: value for key, (value, _) in shown().items()}


@pytest.mark.parametrize("args, words", [
    (["--explian"], "did you mean --explain"),
    (["b.yaml"], "--config"),
    (["--file"], "needs a value"),
    (["--config"], "needs a value"),
    (["--json=1"], "takes no value"),
    (["limits.memory", "limits.pids"], "not also limits.pids"),
    (["limit"], "there is no setting or section limit"),
    (["limits.memry"], "did you mean limits.memory?"),
    (["--explain", "memory"], "did you mean limits.memory?"),
])
def test_wrong_arguments(args, words):
    """CFG"""
    done = config(*args)
    assert done.returncode == 125
    assert words in done.stderr


@pytest.mark.parametrize("only, keys", [
    ("limits.memory", {"limits.memory"}),
    ("profile", {"profile"}),
    ("native", None),
])
def test_one_setting_or_section(only, keys):
    """CFG"""
    every = set(shown())
    keys = keys or {key for key in every if key.startswith(only + ".")}
    assert set(shown(only)) == keys < every
    explained = json.loads(config("--explain", only, "--json").stdout)
    assert {setting["key"] for setting in explained["settings"]} == keys
    text = config("--explain", only).stdout
    assert all(f"{key.rpartition('.')[2]}: " in text for key in keys)
    assert text.count("Allowed:") == len(keys)


def test_a_wrong_flag_is_named_as_typed(tmp_path):
    """CFG"""
    script = tmp_path / "a.py"
    script.write_text("print(1)\n")
    done = subprocess.run([BELLJAR, "run", "--memory", "x", script], env=NO_HOME, text=True, capture_output=True,
                          timeout=20)
    assert done.returncode == 125
    assert '--memory: limits.memory: "x" is not allowed' in done.stderr


def test_full_disk_is_said():
    """A closed or full standard output is not a success."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([BELLJAR, "config"], stdout=full, stderr=subprocess.PIPE, text=True,
                              env=NO_HOME, timeout=20)
    assert done.returncode == 125
    assert "standard output" in done.stderr


def test_a_key_that_no_profile_has_is_named_as_it_stands(tmp_path):
    """CFG"""
    file = tmp_path / "b.yaml"
    file.write_text("profiles:\n  small:\n    memry: 64MiB\n")
    err = config("--check", "--config", str(file)).stderr
    assert f"{file}:3: profiles.small.memry: " in err and "did you mean memory?" in err
