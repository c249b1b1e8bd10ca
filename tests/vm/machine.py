# SPDX-License-Identifier: Apache-2.0
"""A small virtual machine with nothing but cgroup v2: Debian's cloud kernel, the built programs,
python3 and bash, under qemu without hardware help. Nothing is installed on the host: the kernel's
package is downloaded and unpacked below the build directory."""
import os
import pathlib
import re
import select
import shutil
import signal
import stat
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNEL_PACKAGE = "linux-image-cloud-amd64"
BOOT_SECONDS = 240
TOTAL_SECONDS = 420
BUILD = pathlib.Path(os.environ.get("BELLJAR_BUILD", HERE.parents[1] / "build-test"))

# What belljar loads only when it serves.
SERVICE_LIBRARIES = ["libmicrohttpd.so.12"]

# Parts of the Python library that no test needs and that only make the machine slower to load.
PYTHON_UNUSED = {"test", "idlelib", "lib2to3", "tkinter", "ensurepip", "distutils", "pydoc_data",
                 "unittest", "turtledemo"}
PROGRAMS = ["bash", "cat", "cp", "date", "dd", "echo", "env", "false", "grep", "head", "id", "kill",
            "ls", "mkdir", "mount", "mv", "ps", "rm", "sed", "sh", "sleep", "sort", "stat", "tail",
            "touch", "true", "uname", "wc", "yes"]


def kernel_package_name():
    """The versioned package behind the name that always means the newest."""
    text = subprocess.run(["apt-cache", "depends", KERNEL_PACKAGE], check=True,
                          capture_output=True, text=True).stdout
    match = re.search(r"Depends: (linux-image-\d\S+)", text)
    if not match:
        raise RuntimeError(f"apt knows no {KERNEL_PACKAGE}; run apt-get update as root")
    return match[1]


def download(folder):
    subprocess.run(["apt-get", "-q", "-y", "download", kernel_package_name()], cwd=folder,
                   check=True, capture_output=True, text=True)


def fetch_kernel(folder):
    """The path of the kernel image below @folder; downloads and unpacks it once."""
    images = sorted(folder.glob("boot/vmlinuz-*"))
    if images:
        return images[-1]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        download(folder)
    except (subprocess.CalledProcessError, RuntimeError):
        # Old package lists point at a version that is gone; only root can renew them.
        subprocess.run(["apt-get", "-q", "update"], check=True, capture_output=True)
        download(folder)
    package = next(folder.glob("*.deb"))
    subprocess.run(["dpkg", "-x", package, folder], check=True)
    package.unlink()
    shutil.rmtree(folder / "lib", ignore_errors=True)  # modules: all that is needed is built in
    return next(folder.glob("boot/vmlinuz-*"))


class Archive:
    """An initramfs in the kernel's "newc" cpio format."""

    def __init__(self):
        self.entries = {}

    def add(self, name, mode, data=b""):
        name = name.strip("/")
        parent = os.path.dirname(name)
        if parent and parent not in self.entries:
            self.folder(parent)
        self.entries[name] = (mode, data)

    def folder(self, name, mode=0o755):
        self.add(name, stat.S_IFDIR | mode)

    def link(self, name, target):
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def file(self, name, path):
        mode = 0o755 if os.access(path, os.X_OK) else 0o644
        self.add(name, stat.S_IFREG | mode, pathlib.Path(path).read_bytes())

    def write(self, path):
        with open(path, "wb") as out:
            for inode, (name, (mode, data)) in enumerate(self.entries.items(), 1):
                self.write_entry(out, inode, name, mode, data)
            self.write_entry(out, 0, "TRAILER!!!", 0, b"")

    @staticmethod
    def write_entry(out, inode, name, mode, data):
        raw = name.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = [inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(raw), 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + raw
        out.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))


def libraries(program):
    """The shared libraries of a program, as the loader finds them."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True)
    return re.findall(r"(/\S+) \(0x", done.stdout)


def usr_path(path):
    """Where a file stands once /bin, /lib and /lib64 are links into /usr."""
    path = str(path)
    return path if path.startswith("/usr/") else "/usr" + path


class Root:
    """The file tree of the machine, below image/ in the archive: its first process copies it to a
    tmpfs, since the kernel refuses pivot_root on the initramfs itself."""

    def __init__(self, archive):
        self.archive = archive
        for name in ("bin", "lib", "lib64", "sbin"):
            archive.link(f"image/{name}", f"usr/{name}")
        for name in ("proc", "sys", "dev", "run", "tmp", "etc", "root", "home", "var", "mnt",
                     "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"):
            archive.folder(f"image/{name}")

    def file(self, name, path):
        self.archive.file("image" + name, path)

    def program(self, path, name=None):
        real = os.path.realpath(path)
        self.file(name or usr_path(path), real)
        for library in libraries(real):
            self.file(usr_path(library), os.path.realpath(library))

    def library(self, name):
        """One that no program names, and what it needs, from where the loader looks."""
        cache = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
        self.program(re.search(rf"^\s*{re.escape(name)} .*x86-64.* => (\S+)$", cache, re.MULTILINE)[1])

    def text(self, name, text):
        self.archive.add("image" + name, stat.S_IFREG | 0o644, text.encode())

    def tree(self, top, unused=()):
        for folder, names, files in os.walk(top):
            names[:] = [n for n in names if n not in unused and not n.startswith("config-")]
            for name in files:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    self.file(path, path)
                    if ".so" in name:
                        for library in libraries(path):
                            self.file(usr_path(library), os.path.realpath(library))


def build_archive(build, path):
    archive = Archive()
    root = Root(archive)
    archive.file("init", HERE / "guest/init")
    archive.file("busybox", "/bin/busybox")
    archive.folder("new")
    root.file("/usr/bin/busybox", "/bin/busybox")
    for name in PROGRAMS:
        root.program(shutil.which(name, path="/usr/bin:/bin") or "/bin/busybox", f"/usr/bin/{name}")
    version = os.path.basename(os.path.realpath("/usr/bin/python3"))
    root.program("/usr/bin/python3", f"/usr/bin/{version}")
    archive.link("image/usr/bin/python3", version)
    root.tree(f"/usr/lib/{version}", PYTHON_UNUSED)
    for program in sorted((build / "src").glob("belljar*")):
        if program.is_file() and os.access(program, os.X_OK):
            root.program(program, f"/opt/belljar/{program.name}")
    for name in SERVICE_LIBRARIES:
        root.library(name)
    root.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n"
              "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n")
    root.text("/etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n")
    root.file("/usr/sbin/init", HERE / "guest/main")
    for script in ("cases.py", "cases_serve.py", "serving.py"):
        root.file(f"/opt/belljar/{script}", HERE / "guest" / script)
    archive.write(path)


def command_line(kernel, archive):
    return ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-smp", "2",
            "-m", "2G", "-nographic", "-nodefaults", "-serial", "stdio", "-no-reboot",
            "-kernel", str(kernel), "-initrd", str(archive),
            "-append", "console=ttyS0 quiet loglevel=3 panic=-1 cgroup_no_v1=all"]


def read_lines(process, seen):
    """Yield lines of the console until it closes or a deadline passes."""
    start = time.monotonic()
    rest = b""
    while True:
        limit = TOTAL_SECONDS if seen["booted"] else BOOT_SECONDS
        left = start + limit - time.monotonic()
        ready = select.select([process.stdout], [], [], max(left, 0))[0]
        if not ready:
            raise TimeoutError(f"the machine was killed after {limit} s")
        data = os.read(process.stdout.fileno(), 65536)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")


def boot(kernel, archive, log):
    """Run the machine to its end. Returns {case: (ok, what it said)}; the console goes to @log."""
    results, seen = {}, {"booted": False}
    with open(log, "w", encoding="utf-8") as console, \
            subprocess.Popen(command_line(kernel, archive), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            for line in read_lines(process, seen):
                console.write(line + "\n")
                match = re.search(r"BELLJAR-VM (\S+) ?(\S*) ?(.*)", line)
                if match and match[1] == "booted":
                    seen["booted"] = True
                elif match and match[1] in ("ok", "failed"):
                    results[match[2]] = (match[1] == "ok", match[3])
        except TimeoutError as error:
            console.write(f"{error}\n")
        finally:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
    return results
