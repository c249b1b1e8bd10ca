# SPDX-License-Identifier: Apache-2.0
"""The file tree of a small Debian with systemd, a message bus and an ordinary user whose service
manager runs. Packages are downloaded and unpacked below the build directory; no maintainer script
runs, so no root is needed, and what those scripts would have written is written here."""
import hashlib
import os
import pathlib
import shutil
import stat
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = ["systemd", "systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "python3", "bash",
            "coreutils", "util-linux", "procps", "usr-is-merged", "libmicrohttpd12"]
# Needed by maintainer scripts alone.
UNUSED = ("perl", "libperl", "debconf", "dpkg", "adduser", "gcc-", "tzdata", "libdb5", "libgdbm",
          "media-types", "libsqlite", "readline")
# All that is read below /usr/share, and what the library of Python can do without.
SHARE = ("dbus-1", "polkit-1", "pam", "pam-configs")
UNUSED_PARTS = ("usr/lib/python3.11/lib2to3", "usr/lib/python3.11/pydoc_data", "usr/lib/udev/hwdb.d")
USER, UID = "agent", 1000

FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nmessagebus:x:100:100::/nonexistent:/bin/false\n"
                  f"{USER}:x:{UID}:{UID}::/home/{USER}:/bin/bash\n"
                  "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    "etc/group": f"root:x:0:\ntty:x:5:\nmessagebus:x:100:\n{USER}:x:{UID}:\nnogroup:x:65534:\n",
    "etc/shadow": f"root:*:19000::::::\n{USER}:*:19000::::::\n",
    "etc/machine-id": "b08dfa6083e7567a1921a715000001fb\n",
    "etc/hostname": "vm\n",
    "etc/fstab": "",
    "etc/pam.d/common-auth": "auth sufficient pam_rootok.so\nauth required pam_deny.so\n",
    "etc/pam.d/common-account": "account required pam_permit.so\n",
    "etc/pam.d/common-password": "password required pam_deny.so\n",
    "etc/environment": "",
    "etc/default/locale": "",
    "etc/pam.d/common-session": "session required pam_permit.so\nsession required pam_systemd.so\n",
    "etc/pam.d/common-session-noninteractive": "session required pam_permit.so\n",
    # Its user manager runs from boot on, as after `loginctl enable-linger`.
    f"var/lib/systemd/linger/{USER}": "",
    "etc/systemd/system/belljar-cases.service": f"""[Unit]
Wants=user@{UID}.service
After=user@{UID}.service dbus.service systemd-logind.service
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 -I /opt/belljar/cases_systemd.py
ExecStopPost=/usr/bin/systemctl poweroff --force --force
StandardOutput=tty
StandardError=inherit
TTYPath=/dev/ttyS0
""",
}
LINKS = {
    "etc/systemd/system/default.target": "/usr/lib/systemd/system/multi-user.target",
    "etc/systemd/system/multi-user.target.wants/belljar-cases.service": "../belljar-cases.service",
    "etc/systemd/system/getty.target": "/dev/null",
}


def apt(folder, *args):
    """apt-get as on a machine where nothing is installed yet."""
    (folder / "status").touch()
    (folder / "archives/partial").mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        ["apt-get", "-q", "-y", "-o", f"Dir::State::status={folder}/status", "-o",
         f"Dir::Cache::archives={folder}/archives", "-o", "APT::Install-Recommends=0", "-o",
         "Debug::NoLocking=1", "-o", "APT::Sandbox::User=root", *args],
        check=True, capture_output=True, text=True)


def download(folder):
    command = ["--download-only", "install", *PACKAGES]
    try:
        apt(folder, *command)
    except subprocess.CalledProcessError:
        # Old package lists point at versions that are gone; only root can renew them.
        subprocess.run(["apt-get", "-q", "update"], check=True, capture_output=True)
        apt(folder, *command)
    return [p for p in sorted((folder / "archives").glob("*.deb")) if not p.name.startswith(UNUSED)]


def unpack(package, root):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as tar:
        subprocess.run(["tar", "-x", "--no-same-owner", "--keep-directory-symlink", "-C", root], check=True,
                       stdin=tar.stdout)
    if tar.returncode != 0:
        raise RuntimeError(f"cannot unpack {package}")


def prune(root):
    for entry in (root / "usr/share").iterdir():
        if entry.name not in SHARE:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for part in UNUSED_PARTS:
        shutil.rmtree(root / part, ignore_errors=True)


def configure(root):
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, target in LINKS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def fetch_tree(folder):
    """The tree below @folder; built once for each version of this file."""
    root = folder / hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:16]
    if root.exists():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    new = folder / "new"
    for name in ("bin", "sbin", "lib", "lib64"):
        (new / "usr" / name).mkdir(parents=True, exist_ok=True)
        (new / name).symlink_to(f"usr/{name}")
    for package in download(folder):
        unpack(package, new)
    prune(new)
    configure(new)
    shutil.rmtree(folder / "archives")
    new.rename(root)
    return root


def add_tree(archive, top, prefix):
    for folder, names, files in os.walk(top):
        for name in names + files:
            path = pathlib.Path(folder, name)
            inside = f"{prefix}/{path.relative_to(top)}"
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                archive.link(inside, os.readlink(path))
            elif stat.S_ISDIR(mode):
                archive.folder(inside, stat.S_IMODE(mode))
            elif stat.S_ISREG(mode):
                archive.add(inside, mode, path.read_bytes())


def build_archive(machine, build, path):
    """The initramfs: the tree, and the programs of @build in /opt/belljar."""
    archive = machine.Archive()
    archive.file("init", HERE / "guest/init")
    archive.file("busybox", "/bin/busybox")
    archive.folder("new")
    add_tree(archive, fetch_tree(build / "vm/debian"), "image")
    for program in sorted((build / "src").glob("belljar*")):
        if program.is_file() and os.access(program, os.X_OK):
            archive.file(f"image/opt/belljar/{program.name}", program)
    for script in ("cases.py", "cases_systemd.py", "serving.py"):
        archive.file(f"image/opt/belljar/{script}", HERE / "guest" / script)
    archive.write(path)
