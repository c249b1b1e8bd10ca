#: item: 32
#: what: sparse artifacts of 1 TiB and of the largest size there is
#: args: [--timeout, "10"]
#: out: {max_bytes: 1073741824, only: [small]}
#: any: true
#: seconds: 10
import os

os.chdir(os.environ["BELLJAR_OUT"])
for name, size in (("tib", 1 << 40), ("huge", (1 << 63) - 4096), ("gib", 100 << 30)):
    try:
        fd = os.open(name, os.O_CREAT | os.O_WRONLY, 0o600)
        os.ftruncate(fd, size)
    except OSError as e:
        print(name, e)
        os.unlink(name)
with open("small", "w") as f:
    f.write("small")
