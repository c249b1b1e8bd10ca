#: item: [13, 35]
#: what: starts threads until it is refused
#: args: [--pids, "50"]
#: expect: {cause: pids, status: 137}
#: basic: {expect: {any: [{cause: pids}, {cause: exited, exit_code: 0}]}}
#: seconds: 15
import sys
import threading
import time

n = 0
try:
    while n < 5000:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
except RuntimeError:
    pass
time.sleep(2)
print(n)
sys.stdout.flush()
import os
os._exit(0 if n < 60 else 1)
