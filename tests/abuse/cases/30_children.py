#: item: 30
#: what: children that together take more than the limit, none alone; the script would go on
#: args: [--memory, 64M]
#: expect: {cause: oom, status: 137}
#: modes: [root, rootless]
#: seconds: 15
import os
import time

for _ in range(8):
    if os.fork() == 0:
        x = bytearray(16 << 20)
        time.sleep(5)
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
print("went on")
