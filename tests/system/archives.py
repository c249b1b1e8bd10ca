# SPDX-License-Identifier: Apache-2.0
"""Images made by hand: layers, `docker save` archives and OCI archives, honest and hostile."""
import bz2
import gzip
import hashlib
import io
import json
import lzma
import pathlib
import platform
import subprocess
import tarfile

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
COMPRESS = {"": bytes, "gz": lambda d: gzip.compress(d, 1), "xz": lambda d: lzma.compress(d, preset=0),
            "bz2": bz2.compress,
            "zst": lambda d: subprocess.run(["zstd", "-q", "-c"], input=d, check=True,
                                            capture_output=True).stdout}


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Layer:
    """A tar archive under construction; names go in as they are."""

    def __init__(self):
        self.file = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.file, mode="w", format=tarfile.PAX_FORMAT)

    def add(self, name, kind=tarfile.REGTYPE, data=b"", mode=0o644, link="", **fields):
        info = tarfile.TarInfo(name)
        info.type, info.size, info.mode, info.linkname = kind, len(data), mode, link
        for key, value in fields.items():
            setattr(info, key, value)
        self.tar.addfile(info, io.BytesIO(data))
        return self

    def dir(self, name):
        return self.add(name, tarfile.DIRTYPE, mode=0o755)

    def symlink(self, name, target):
        return self.add(name, tarfile.SYMTYPE, link=target)

    def hardlink(self, name, target):
        return self.add(name, tarfile.LNKTYPE, link=target)

    def bytes(self):
        self.tar.close()
        return self.file.getvalue()


def shell_layer():
    """bash and what it is linked to, from this machine: enough to run a script."""
    layer = Layer()
    files = ["/bin/bash"]
    for line in subprocess.run(["ldd", "/bin/bash"], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        files += [word for word in line.split() if word.startswith("/")]
    for name in dict.fromkeys(files):
        layer.add(name.lstrip("/"), data=pathlib.Path(name).read_bytes(), mode=0o755)
    return layer


def config_of(layers, arch=ARCH, env=None):
    return json.dumps({"architecture": arch, "os": "linux",
                       "config": {"Env": env or ["PATH=/usr/local/bin:/usr/bin:/bin"]},
                       "rootfs": {"type": "layers",
                                  "diff_ids": ["sha256:" + sha(layer) for layer in layers]}}).encode()


def pack(members, compress=""):
    outer = Layer()
    for name, data in members:
        outer.add(name, data=data)
    return COMPRESS[compress](outer.bytes())


def docker_save(layers, tag="made:1", config=None, compress="", inner="", config_name=None):
    config = config or config_of(layers)
    names = [f"{i}/layer.tar" for i in range(len(layers))]
    manifest = [{"Config": config_name or sha(config) + ".json", "RepoTags": [tag] if tag else [],
                 "Layers": names}]
    # The manifest stands last, as `docker save` has it.
    return pack([*zip(names, map(COMPRESS[inner], layers)), (manifest[0]["Config"], config),
                 ("manifest.json", json.dumps(manifest).encode())], compress)


def oci_archive(layers, name="made", inner="gz", compress="", nested=False, wrong=None):
    blobs = {}

    def blob(data, kind):
        digest = sha(data)
        blobs[digest] = data + b" " if kind == wrong else data
        return {"digest": "sha256:" + digest, "size": len(data), "mediaType": kind}

    manifest = {"schemaVersion": 2, "config": blob(config_of(layers), "config"),
                "layers": [blob(COMPRESS[inner](layer), "layer") for layer in layers]}
    top = blob(json.dumps(manifest).encode(), "manifest")
    if nested:
        other = {**top, "platform": {"os": "linux", "architecture": "riscv64"},
                 "digest": "sha256:" + "0" * 64}
        top = {**top, "platform": {"os": "linux", "architecture": ARCH}}
        top = blob(json.dumps({"manifests": [other, top]}).encode(), "index")
    index = {"manifests": [{**top, "annotations": {"org.opencontainers.image.ref.name": name}}]}
    return pack([("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'),
                 ("index.json", json.dumps(index).encode()),
                 *((f"blobs/sha256/{digest}", data) for digest, data in blobs.items())], compress)
