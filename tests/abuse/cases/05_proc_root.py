#: item: 5
#: what: walks through /proc/1/root, cwd, exe and the rest of the links of other processes
import os

from probe import check, done

here = os.stat("/")
for pid in {"1", "self", str(os.getppid()), "thread-self", *filter(str.isdigit, os.listdir("/proc"))}:
    base = f"/proc/{pid}"
    for link in ("root", "cwd"):
        try:
            st = os.stat(f"{base}/{link}")
        except OSError:
            check("", True)
            continue
        top = f"{base}/{link}" + ("" if link == "root" else "/../..")
        st = os.stat(top)
        check(f"{top} is another root", (st.st_dev, st.st_ino) == (here.st_dev, here.st_ino))
        for path in os.environ["CANARY_FILES"].split(":"):
            check(f"{top}{path} is there", not os.path.exists(top + path))
    if pid in ("1", str(os.getppid())) and os.getppid() != os.getpid():
        for name in ("mem", "environ", "maps", "auxv", "syscall", "stack", "pagemap", "io"):
            try:
                data = open(f"{base}/{name}", "rb").read(16)
            except OSError:
                check("", True)
            else:
                check(f"{base}/{name} could be read", not data)
check(f"foreign pids {os.listdir('/proc')}", len([p for p in os.listdir("/proc") if p.isdigit()]) < 6)
check("the host's pid is visible", not os.path.exists("/proc/" + os.environ["CANARY_PID"])
      or int(os.environ["CANARY_PID"]) < 6)
done()
