#: item: 13
#: what: forks without end and ignores refusals
#: args: [--timeout, "8", --pids, "64"]
#: expect: {cause: pids, status: 137}
#: basic: {expect: {any: [{cause: pids}, {cause: timeout}]}, args: [--timeout, "2", --pids, "64"]}
#: seconds: 15
import os
import time

while True:
    try:
        if os.fork() == 0:
            time.sleep(0.001)
    except OSError:
        pass
