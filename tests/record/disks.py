# SPDX-License-Identifier: Apache-2.0
"""File systems to keep records on: one that is sound, one that runs full, one that fails."""
import ctypes
import mmap
import os
import pathlib
import struct
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)


class Sound:
    """An ordinary folder."""

    def __init__(self, top):
        self.top = top
        self.env = {}

    def mount(self, size):
        self.top.mkdir()
        if LIBC.mount(b"bjtest", bytes(self.top), b"tmpfs", 0, f"size={size},mode=0755".encode()) != 0:
            raise OSError(ctypes.get_errno(), f"cannot mount {self.top}")

    def trouble(self, rng):
        """Begin to be difficult."""

    def peace(self):
        """Be an ordinary folder again."""

    def count(self):
        """How much trouble there was; None: this kind makes none."""
        return None

    def close(self):
        pass


class Full(Sound):
    """24 MiB that somebody else fills, but for a few KiB, and empties again."""

    def __init__(self, top):
        super().__init__(top)
        self.mount("24m")
        self.times = 0

    def fill(self):
        fd = os.open(self.top / "ballast", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.posix_fallocate(fd, 0, os.statvfs(self.top).f_bavail * 4096)
            while True:
                os.write(fd, bytes(4096))
        except OSError:
            self.times += 1
        finally:
            os.close(fd)

    def trouble(self, rng):
        self.fill()
        if rng.random() < 0.5:
            size = os.path.getsize(self.top / "ballast")
            os.truncate(self.top / "ballast", max(0, size - rng.randrange(300) * 1024))

    def peace(self):
        (self.top / "ballast").unlink(missing_ok=True)

    def count(self):
        return self.times

    def close(self):
        LIBC.umount2(bytes(self.top), 2)


class Failing(Sound):
    """Writes and fsync(2) fail with EIO, some of a hundred or nearly all."""

    def __init__(self, top):
        super().__init__(top)
        self.mount("256m")
        library, control = top.parent / "failing.so", top.parent / "failing"
        source = pathlib.Path(__file__).with_name("failing.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        control.write_bytes(struct.pack("=QQQ", os.stat(top).st_dev, 0, 0))
        for path in (library, control):
            path.chmod(0o666)
        with open(control, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 24)
        self.env = {"LD_PRELOAD": str(library), "BJTEST_FAILING": str(control),
                    "ASAN_OPTIONS": "verify_asan_link_order=0"}

    def trouble(self, rng):
        self.map[8:16] = struct.pack("=Q", rng.choice((5, 30, 200, 950)))

    def always(self):
        self.map[8:16] = struct.pack("=Q", 1000)

    def peace(self):
        self.map[8:16] = bytes(8)

    def count(self):
        return struct.unpack("=Q", self.map[16:24])[0]

    def close(self):
        self.map.close()
        LIBC.umount2(bytes(self.top), 2)


KINDS = {"sound": Sound, "full": Full, "failing": Failing}
