#: item: 14
#: what: waits in the kernel for a vforked child that never ends
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: seconds: 3
import os
import subprocess
import time

r, w = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        subprocess.run(["/bin/sleep", "1000"])
os.read(r, 1)
