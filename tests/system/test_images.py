# SPDX-License-Identifier: Apache-2.0
"""Images for the native jar: import, list, run, remove; and archives that mean harm (SCRP-02)."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile

import pytest

from archives import COMPRESS, Layer, config_of, docker_save, oci_archive, pack, shell_layer

TOP = pathlib.Path(__file__).parents[2]
BELLJAR = os.environ.get("BELLJAR", str(TOP / "build/src/belljar"))


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.dir = folder / "images"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BELLJAR_", "SANDBOX_"))}
        self.env["BELLJAR_IMAGES_DIR"] = str(self.dir)

    def image(self, *words, data=None, check=True, **env):
        done = subprocess.run([BELLJAR, "image", *words], env={**self.env, **env}, input=data,
                              capture_output=True, timeout=60, check=False)
        if check:
            assert done.returncode == 0, done.stderr
        return done

    def load(self, data, *words, **kwargs):
        return self.image("import", "-", *words, data=data, **kwargs)

    def refuse(self, data, *words, **env):
        """Import what must not be: the message. Nothing of it is left."""
        done = self.load(data, "--name", "bad", *words, check=False, **env)
        assert done.returncode == 125, (done.stdout, done.stderr)
        left = [p.name for p in self.dir.iterdir() if p.name not in ("lock", "index.json")]
        assert left == [], left
        return done.stderr.decode()

    def list(self):
        return json.loads(self.image("ls", "--json").stdout)

    def root(self, name="made:1"):
        digest = next(i["digest"] for i in self.list() if i["name"] == name)
        return self.dir / digest.removeprefix("sha256:") / "root"

    def run(self, image, script, *flags, language="bash", **env):
        path = self.folder / f"s.{'sh' if language == 'bash' else 'py'}"
        path.write_text(script)
        done = subprocess.run([BELLJAR, "run", "--no-service", "--json", "--image", image, *flags,
                               str(path)], env={**self.env, **env}, capture_output=True,
                              timeout=60, check=False)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture(scope="module")
def shell():
    return shell_layer().bytes()


# --- honest ones ---------------------------------------------------------------------------------

def test_import_run_and_remove(store, shell):
    """SCRP-02: a saved image is imported, listed, run read-only, named in the result, removed."""
    extra = Layer().add("opt/hello.txt", data=b"from the image\n").bytes()
    store.load(docker_save([shell, extra]))
    listed, = store.list()
    assert listed["name"] == "made:1" and listed["bash"] == "/bin/bash"
    assert listed["python"] is None and listed["layers"] == 2
    status, result = store.run("made:1", "read -r l < /opt/hello.txt; echo $l; : > /opt/x || echo no")
    assert (status, result["stdout"]) == (0, "from the image\nno\n"), result
    assert result["meta"]["image"] == {"name": "made:1", "digest": listed["digest"]}
    assert result["meta"]["isolation"]["layers"]["read_only_root"]
    store.image("rm", "made:1")
    assert store.list() == []
    assert sorted(p.name for p in store.dir.iterdir()) == ["index.json", "lock"]


def test_host_is_the_default(store):
    """SX-LOCAL: without an image, and as host, the machine's own interpreters run."""
    for image in "host", "":
        status, result = store.run(image, "echo hi")
        assert (status, result["meta"]["image"]) == (0, None)


@pytest.mark.parametrize("inner", ["", "gz", "xz", "bz2", "zst"])
@pytest.mark.parametrize("form", ["docker", "oci"])
def test_forms_and_compressions(store, form, inner):
    """SCRP-02: docker and OCI archives, with layers of every compression."""
    if inner == "zst" and not shutil.which("zstd"):
        pytest.skip("no zstd")
    layers = [Layer().add("bin/bash", data=b"#!", mode=0o755).bytes(),
              Layer().add("etc/ünïcode", data=b"x").bytes()]
    make = docker_save if form == "docker" else oci_archive
    store.load(make(layers, inner=inner, compress="gz"), "--name", "made:1")
    assert (store.root() / "etc/ünïcode").read_text() == "x"


def test_an_index_for_several_machines(store):
    """SCRP-02: of an index the image of this machine is taken."""
    layers = [Layer().add("bin/bash", data=b"#!", mode=0o755).bytes()]
    store.load(oci_archive(layers, nested=True))
    assert store.list()[0]["name"] == "made:latest"


def test_whiteouts_and_opaque_directories(store):
    """SCRP-02: what an upper layer removed is gone, what it adds beside an opaque mark stays."""
    low = Layer().dir("a").add("a/gone", data=b"1").add("a/kept", data=b"2").dir("b")
    low.add("b/old", data=b"3").dir("b/deep").add("b/deep/file").symlink("link", "a")
    low.add("bin/bash", data=b"#!", mode=0o755)
    high = Layer().add("b/first", data=b"4").add("a/.wh.gone").add("b/.wh..wh..opq")
    high.add("b/new", data=b"5").add(".wh.link").add(".wh.never").add("none/.wh.x")
    store.load(docker_save([low.bytes(), high.bytes()]))
    root = store.root()
    assert [p.name for p in (root / "a").iterdir()] == ["kept"]
    assert sorted(p.name for p in (root / "b").iterdir()) == ["first", "new"]
    assert not (root / "link").is_symlink()
    assert not list(root.rglob(".wh.*"))


def test_duplicates_modes_and_kinds(store):
    """DS-FS: the last of a name wins, set-id bits go, devices and pipes are left out."""
    layer = Layer().add("bin/bash", data=b"first", mode=0o4755).add("bin/bash", data=b"#!", mode=0o6755)
    layer.add("secret", data=b"s", mode=0o600).add("open", data=b"o", mode=0o666)
    layer.add("dev/sda", tarfile.BLKTYPE, devmajor=8).add("dev/kmsg", tarfile.CHRTYPE, devmajor=1)
    layer.add("pipe", tarfile.FIFOTYPE).dir("d").add("d/f").add("d", data=b"now a file")
    layer.symlink("l", "/etc").dir("l").add("l/in", data=b"i").hardlink("bin/sh", "bin/bash")
    layer.hardlink("bin/sh", "bin/sh").add("py", mtime=12345)
    done = store.load(docker_save([layer.bytes()]))
    assert b"left out 3 devices" in done.stderr
    root = store.root()
    assert (root / "bin/bash").read_bytes() == b"#!"
    assert (root / "bin/bash").stat().st_mode == 0o100755
    assert (root / "bin/sh").stat().st_ino == (root / "bin/bash").stat().st_ino
    assert (root / "secret").stat().st_mode == (root / "open").stat().st_mode == 0o100644
    assert (root / "d").read_text() == "now a file" and (root / "l/in").read_text() == "i"
    assert not (root / "dev/sda").exists() and not (root / "pipe").exists()
    assert (root / "py").stat().st_mtime == 12345
    assert {p.lstat().st_uid for p in root.rglob("*")} == {os.geteuid()}


def test_links_stay_inside(store, shell):
    """DS-FS: a link out of the image means a place in the jar, nothing of the host."""
    layer = Layer().symlink("passwd", "/etc/passwd").symlink("up", "../../../../../../etc/hostname")
    layer.add("etc/passwd", data=b"of the image\n").add("etc/hostname", data=b"inside\n")
    store.load(docker_save([shell, layer.bytes()]))
    _, result = store.run("made:1", 'read -r a < /passwd; read -r b < /up; echo "$a $b"')
    assert result["stdout"] == "of the image inside\n"


def test_names(store, shell):
    """SCRP-02: two names of one image share its files; a digest removes all of it."""
    saved = docker_save([shell])
    store.load(saved)
    store.load(saved, "--name", "other")
    names = {i["name"]: i["digest"] for i in store.list()}
    assert set(names) == {"made:1", "other:latest"} and len(set(names.values())) == 1
    digest = names["made:1"]
    assert store.run(digest, "echo hi")[1]["stdout"] == "hi\n"
    assert store.run(f"made:1@{digest}", "echo hi")[1]["meta"]["image"]["name"] == "made:1"
    store.image("rm", "made:1")
    assert [i["name"] for i in store.list()] == ["other:latest"]
    store.image("rm", digest[7:20])
    assert store.list() == []
    for bad in "host", "../x", "UP", "a b", ":1", "a:", "re g:5000/x", "reg:50x/x", "reg:/x", "a/reg:5000/x":
        assert b"cannot be called" in store.load(saved, "--name", bad, check=False).stderr
    assert b"reg.example:5000/team/data:1 is ready" in store.load(saved, "--name", "reg.example:5000/team/data:1").stdout
    anonymous = docker_save([shell], tag="")
    assert b"add --name" in store.load(anonymous, check=False).stderr


ESCAPE = "\x1b]0;owned\x07"


@pytest.mark.parametrize("tag", [f"{ESCAPE}:5000/data:1", f"{ESCAPE}:1", f"a:{ESCAPE}/b:1", "a b:5/c:1"])
def test_a_name_that_is_none_is_not_taken_from_the_archive(store, shell, tag):
    done = store.load(docker_save([shell], tag=tag), check=False)
    assert done.returncode == 125 and b"add --name" in done.stderr
    assert b"\x1b" not in done.stdout + done.stderr
    assert store.list() == []


def test_no_terminal_is_told_what_to_do_by_an_archive(store):
    """Names of files are the archive's own words."""
    place = f"{ESCAPE}/bin"
    layer = Layer().add(f"{place}/bash", data=b"#!", mode=0o755)
    config = config_of([data := layer.bytes()], env=[f"PATH=/{place}"])
    store.load(docker_save([data], config=config))
    assert [i["bash"] for i in store.list()] == [f"/{place}/bash"]
    table = store.image("ls").stdout
    assert b"]0;owned" in table and b"\x1b" not in table and b"\x07" not in table
    bad = Layer().add(f"a/../{ESCAPE}").bytes()
    said = store.load(docker_save([bad]), "--name", "bad", check=False).stderr
    assert b"leads out" in said and b"\x1b" not in said


def test_table(store, shell):
    """SCRP-02: the table for people."""
    assert store.image("ls").stdout.startswith(b"NAME")
    store.load(docker_save([shell]))
    assert b"made:1" in store.image("ls").stdout
    assert b"say `belljar image" in store.image("frob", check=False).stderr


def test_an_unknown_image(store):
    """SCRP-02: a missing image is belljar's failure and names the command that makes it."""
    status, result = store.run("nope", "echo hi")
    assert status == 125
    assert "`belljar image build --name nope`" in result["error"]
    assert store.image("rm", "nope", check=False).returncode == 125
    for name, said in (("../x", "cannot be called ../x"), ("sha256:0123456789abcdef", "`belljar image ls` lists them")):
        status, result = store.run(name, "echo hi")
        assert status == 125 and said in result["error"] and "image build" not in result["error"], result


def test_a_language_that_the_image_lacks(store, shell):
    """SCRP-02: an image without python3 cannot run Python: 127."""
    store.load(docker_save([shell]))
    assert store.run("made:1", "print(1)", language="python")[0] == 127


def test_no_removal_while_in_use(store, shell):
    """SCRP-06: an image cannot be removed under a run."""
    store.load(docker_save([shell]))
    script = store.folder / "wait.sh"
    script.write_text("echo up; read -r x")
    run = subprocess.Popen([BELLJAR, "run", "--no-service", "--image", "made:1", "--stdin", "-",
                            str(script)], env=store.env, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    try:
        assert run.stdout.readline() == b"up\n"
        assert b"in use" in store.image("rm", "made:1", check=False).stderr
        assert len(store.list()) == 1
    finally:
        run.communicate(b"\n", timeout=30)
    store.image("rm", "made:1")


def test_a_dead_import_is_swept(store, shell):
    """DS-CLEAN: what a killed import left goes with the next one."""
    left = store.dir / ".new-0123456789abcdef"
    (left / "root/a/b").mkdir(parents=True)
    store.dir.chmod(0o700)
    store.load(docker_save([shell]))
    assert not left.exists()


def test_kill_of_an_import(store, shell):
    """DS-CLEAN: SIGKILL in the middle: no half image has a name, and the next import sweeps."""
    import_ = subprocess.Popen([BELLJAR, "image", "import", "-"], env=store.env,
                               stdin=subprocess.PIPE)
    saved = docker_save([shell])
    import_.stdin.write(saved[:len(saved) // 2])
    import_.stdin.flush()
    import_.send_signal(signal.SIGKILL)
    import_.wait(30)
    assert store.list() == []
    import_.stdin.close()
    store.load(saved)
    assert len([p for p in store.dir.iterdir() if p.name.startswith(".new-")]) <= 1
    assert [i["name"] for i in store.list()] == ["made:1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_as_an_ordinary_user(tmp_path, shell):
    """SX-LOCAL: images need no root."""
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 12345, 12345)
    for part in (tmp_path, *tmp_path.parents):
        if part.stat().st_uid == os.geteuid() and not part.stat().st_mode & 1:
            part.chmod(part.stat().st_mode | 0o011)
    program = home / "belljar"
    shutil.copy(BELLJAR, program)
    (home / "s.sh").write_text("echo rootless")
    (home / "i.tar").write_bytes(docker_save([shell]))
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "XDG_DATA_HOME": str(home / "data"),
           "BELLJAR_NATIVE_REQUIRE": "basic"}
    for words in ["image", "import", "i.tar"], ["run", "--image", "made:1", "s.sh"]:
        done = subprocess.run([program, *words], env=env, cwd=home, user=12345, group=12345,
                              extra_groups=[], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 0, done.stderr
    assert done.stdout == "rootless\n"


# --- hostile ones --------------------------------------------------------------------------------

def through(*entries):
    def make():
        layer = Layer().add("bin/bash", data=b"#!", mode=0o755)
        for method, *words in entries:
            getattr(layer, method)(*words)
        return layer
    return make


HOSTILE = {
    "parent": (through(("add", "../evil")), "leads out"),
    "parent inside": (through(("add", "a/../../evil")), "leads out"),
    "absolute": (through(("add", "/tmp/belljar-evil")), "absolute"),
    "through a link": (through(("symlink", "x", "/tmp"), ("add", "x/belljar-evil")), "no directory"),
    "through a deep link": (through(("dir", "a"), ("symlink", "a/x", ".."), ("add", "a/x/b/evil")),
                            "no directory"),
    "through a file": (through(("add", "f"), ("add", "f/g")), "no directory"),
    "hard link out": (through(("hardlink", "h", "../../../../etc/passwd")), "leads out"),
    "absolute hard link": (through(("hardlink", "h", "/etc/passwd")), "absolute"),
    "hard link through a link": (through(("symlink", "x", "/etc"), ("hardlink", "h", "x/passwd")),
                                 "no directory"),
    "hard link to a link": (through(("symlink", "x", "/etc/passwd"), ("hardlink", "h", "x")),
                            "no file of the archive"),
    "hard link to nothing": (through(("hardlink", "h", "nothing")), "no file of the archive"),
    "the root itself": (through(("add", ".")), "root"),
    "a link as the root": (through(("symlink", ".", "/tmp")), "root"),
    "too deep": (through(("add", "d/" * 65 + "f")), "too deep"),
    "too long a name": (through(("add", "n" * 256)), "too long"),
    "too long a path": (through(("add", ("p" * 200 + "/") * 21)), "too long"),
    "too long a target": (through(("symlink", "x", "t" * 4096)), "too long"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_entries(store, name):
    """DS-FS: no name, link or order of entries reaches anything outside."""
    make, why = HOSTILE[name]
    assert why in store.refuse(docker_save([make().bytes()]))
    assert not pathlib.Path("/tmp/belljar-evil").exists()


@pytest.mark.parametrize("path,why", [
    ("a/.wh...", "not its own"), (".wh...", "not its own"), (".wh..", "not its own"),
    ("../.wh.etc", "leads out"), ("x/.wh.f", "no directory"), ("x/.wh..wh..opq", "no directory"),
])
def test_hostile_whiteouts(store, tmp_path, path, why):
    """DS-FS: a whiteout removes nothing outside, not through a link either."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "f").write_text("precious")
    low = Layer().add("bin/bash", data=b"#!", mode=0o755).dir("a").symlink("x", str(victim))
    assert why in store.refuse(docker_save([low.bytes(), Layer().add(path).bytes()]))
    assert (victim / "f").read_text() == "precious"


def test_a_link_swapped_between_layers(store, tmp_path):
    """DS-FS: a directory that an upper layer turns into a link is not written through."""
    victim = tmp_path / "victim"
    victim.mkdir()
    low = Layer().add("bin/bash", data=b"#!", mode=0o755).dir("d").add("d/f", data=b"1")
    high = Layer().symlink("d", str(victim)).add("d/f", data=b"2")
    assert "no directory" in store.refuse(docker_save([low.bytes(), high.bytes()]))
    assert list(victim.iterdir()) == []


def test_ceilings(store):
    """DS-FS: size and count have a ceiling, holes counted; a bomb is seen while it goes off."""
    bash = ("add", "bin/bash", tarfile.REGTYPE, b"#!", 0o755)
    small = {"BELLJAR_IMAGES_MAX_SIZE": "1MiB", "BELLJAR_IMAGES_MAX_FILES": "16"}
    large = through(bash, ("add", "big", tarfile.REGTYPE, bytes(2 << 20)))().bytes()
    assert "max_size" in store.refuse(docker_save([large], inner="gz"), **small)
    many = through(bash, *[("add", f"f{i}") for i in range(20)])().bytes()
    assert "max_files" in store.refuse(docker_save([many]), **small)
    pipes = through(bash, *[("add", f"f{i}", tarfile.FIFOTYPE) for i in range(20)])().bytes()
    assert "max_files" in store.refuse(docker_save([pipes]), **small)
    bomb = through(bash, ("add", "zeros", tarfile.REGTYPE, bytes(100 << 20)))().bytes()
    assert "more than it may" in store.refuse(docker_save([bomb], inner="gz"))
    assert "too large" in store.refuse(COMPRESS["gz"](pack([("manifest.json", bytes(100 << 20))])))


def sparse(size, maps, data):
    """A GNU sparse file (PAX 1.0) that says it has @size bytes."""
    text = "\n".join(str(n) for n in [len(maps), *(x for m in maps for x in m)]) + "\n"
    body = text.encode().ljust(512, b"\0") + data
    layer = Layer().add("bin/bash", data=b"#!", mode=0o755)
    layer.add("s", data=body, pax_headers={
        "GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "sparse",
        "GNU.sparse.realsize": str(size)})
    return layer.bytes()


def test_sparse_tricks(store):
    """DS-FS: a hole counts as what it pretends to be; a map cannot write past the end."""
    store.load(docker_save([sparse(1 << 20, [(4096, 4)], b"data")]))
    made = store.root() / "sparse"
    assert made.stat().st_size == 1 << 20 and made.read_bytes()[4096:4100] == b"data"
    store.image("rm", "made:1")
    assert "max_size" in store.refuse(docker_save([sparse(1 << 50, [(0, 4)], b"data")]))
    for maps in [(1 << 40, 4)], [(-4, 4)], [(0, 4), (1 << 62, 4)]:
        assert store.refuse(docker_save([sparse(8192, maps, b"datadata")]))


def test_changed_archives(store, shell):
    """DS-FS: every digest is held against what was unpacked."""
    other = Layer().add("bin/bash", data=b"other", mode=0o755).bytes()
    assert "layer 1 has another digest" in store.refuse(
        docker_save([other], config=config_of([shell])))
    assert "config has another digest" in store.refuse(
        docker_save([other], config_name="0" * 64 + ".json"))
    assert "manifest has another digest" in store.refuse(oci_archive([other], wrong="manifest"))
    assert "config has another digest" in store.refuse(oci_archive([other], wrong="config"))


def test_no_images(store, shell):
    """SCRP-02: what is no image, or one for another machine, is refused in a sentence."""
    two = json.dumps([{"Config": "c", "Layers": []}] * 2).encode()
    cases = [
        (b"", "no tar"), (b"\0" * 10240, "neither"), (b"no archive at all" * 100, "no tar"),
        (pack([("a", b"b")]), "neither"), (pack([("manifest.json", two)]), "several"),
        (pack([("manifest.json", b"[")]), "neither"), (pack([("manifest.json", b"[{}]")]), "config"),
        (pack([("index.json", b"{}")]), "none for this machine"),
        (pack([("index.json", json.dumps({"manifests": [{"digest": "sha256:" + "0" * 64}]}).encode())]),
         "manifest is missing"),
        (docker_save([shell], config=config_of([shell], arch="s390x")), "this machine needs"),
        (docker_save([shell], config=config_of([])), "do not agree"),
        (docker_save([Layer().add("x").bytes()]), "neither python3 nor bash"),
        (docker_save([shell])[:100000], "damaged"),
        (docker_save([b"junk" * 1000]), "cannot be read"),
    ]
    for data, why in cases:
        assert why in store.refuse(data), why


def test_the_import_is_sealed(store, shell):
    """DS-SEC: the process that unpacks is nobody (for root), without capabilities, under seccomp."""
    import_ = subprocess.Popen([BELLJAR, "image", "import", "-"], env=store.env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    saved = docker_save([shell])
    import_.stdin.write(saved[:65536])
    import_.stdin.flush()
    try:
        children = pathlib.Path(f"/proc/{import_.pid}/task/{import_.pid}/children")
        status = {}
        for _ in range(5000):
            child = children.read_text().split()
            if child:
                text = pathlib.Path(f"/proc/{child[0]}/status").read_text()
                status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
                if status["Seccomp"] == "2":
                    break
        assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1"
        assert status["CapEff"] == status["CapPrm"] == "0" * 16
        limits = pathlib.Path(f"/proc/{child[0]}/limits").read_text()
        # Zero would not keep a crash from starting what core_pattern names.
        assert re.search(r"core file size +1 +1 ", limits) and re.search(r"open files +256 +256 ", limits), limits
        if os.geteuid() == 0:
            assert status["Uid"].split() == ["65534"] * 4
            assert os.readlink(f"/proc/{child[0]}/ns/net") != os.readlink("/proc/self/ns/net")
    finally:
        import_.stdin.write(saved[65536:])
        import_.communicate(timeout=60)
    assert import_.returncode == 0


def test_gc_removes_half_an_image(store):
    """DS-CLEAN: `belljar gc` also removes what a dead import left."""
    (store.dir / ".new-0123456789abcdef/root").mkdir(parents=True)
    store.dir.chmod(0o700)
    done = subprocess.run([BELLJAR, "gc", "--json"], env=store.env, capture_output=True, timeout=60,
                          check=True)
    assert json.loads(done.stdout)["removed"] >= 1 and not list(store.dir.iterdir())
    for words in ["gc", "what"], ["image", "ls", "--frob"], ["image", "ls", *["x"] * 70]:
        assert subprocess.run([BELLJAR, *words], env=store.env, capture_output=True,
                              check=False).returncode == 125
