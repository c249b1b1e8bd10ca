#: item: 10
#: what: looks for anything an earlier run left
#: before: residue.py
import os

from probe import check, done, syscall

for place, allowed in (("/tmp", set()), ("/dev/shm", set()), ("/dev/mqueue", set()),
                       ("/work", {"out", "probe.py", "__pycache__", "script.py", "10_residue.py"}),
                       (os.environ["BELLJAR_OUT"], set()), (os.environ.get("HOME", "/work"), {
                        "out", "probe.py", "__pycache__", "script.py", "10_residue.py"})):
    try:
        left = set(os.listdir(place)) - allowed
    except OSError:
        continue
    check(f"{place} holds {left}", not left)
for number, what, args in ((29, "shmget", (77, 0, 0)), (68, "msgget", (77, 0)),
                           (64, "semget", (77, 0, 0))):
    check(what + " found something", syscall(number, *args)[0] == -1)
check("an old message queue", syscall(240, b"residue", 0, 0, 0)[0] == -1)
done()
