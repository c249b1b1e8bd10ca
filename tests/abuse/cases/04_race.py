#: item: 4
#: what: swaps a file for a link until it is killed, while the artifacts are collected
#: out: {never: ["root:"]}
#: seconds: 5
import os
import time

os.chdir(os.environ["BELLJAR_OUT"])
if os.fork() == 0:
    os.setsid()
    while True:
        for target in ("/etc/passwd", "/usr/bin/env", "/proc/1/environ"):
            try:
                os.unlink("x")
            except OSError:
                pass
            os.symlink(target, "x")
            os.unlink("x")
            with open("x", "w") as f:
                f.write("harmless")
time.sleep(0.3)
