# SPDX-License-Identifier: Apache-2.0
"""A build backend (PEP 517, PEP 660) with the standard library alone.

It knows one project: the package `belljar` beside it. What it writes is the same bytes for the same
tree: names are sorted and times are fixed.
"""
import base64
import csv
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "belljar"
EPOCH = (2020, 1, 1, 0, 0, 0)


def project():
    """The [project] values that are needed. A TOML parser is in the library only since Python 3.11."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project]", 1)[1]
    return dict(re.findall(r'^([\w-]+) = "([^"]*)"$', text, re.MULTILINE))


def metadata():
    values = project()
    head = [
        "Metadata-Version: 2.1",
        f"Name: {values['name']}",
        f"Version: {values['version']}",
        f"Summary: {values['description']}",
        "License: Apache-2.0",
        f"Requires-Python: {values['requires-python']}",
        "Typing: Typed",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (ROOT / "README.md").read_text(encoding="utf-8")


def stem():
    values = project()
    return f"{values['name']}-{values['version']}"


WHEEL = "Wheel-Version: 1.0\nGenerator: belljar_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def package_files():
    """(name in the wheel, bytes) of the package."""
    for path in sorted((ROOT / PACKAGE).rglob("*")):
        if path.is_file() and (path.suffix == ".py" or path.name == "py.typed"):
            yield path.relative_to(ROOT).as_posix(), path.read_bytes()


def write_wheel(folder, files):
    """A wheel of @files and its own metadata; its name."""
    info = f"{stem()}.dist-info"
    files = [*files, (f"{info}/METADATA", metadata().encode()), (f"{info}/WHEEL", WHEEL.encode())]
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    name = f"{stem()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.writerow([path, f"sha256={digest}", len(data)])
            add(wheel, path, data)
        rows.writerow([f"{info}/RECORD", "", ""])
        add(wheel, f"{info}/RECORD", record.getvalue().encode())
    return name


def add(wheel, path, data):
    entry = zipfile.ZipInfo(path, EPOCH)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)


# --- what an installer calls -----------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, [(f"__editable__.{PACKAGE}.pth", f"{ROOT}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    name = f"{stem()}.tar.gz"
    own = ["pyproject.toml", "README.md", "backend/belljar_build.py"]
    files = [*package_files(), *((path, (ROOT / path).read_bytes()) for path in own),
             ("PKG-INFO", metadata().encode())]
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        for path, data in files:
            entry = tarfile.TarInfo(f"{stem()}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return name
