#: item: 33
#: what: spins in many processes; the share holds for their sum
#: args: [--cpus, "0.5", --timeout, "2"]
#: expect: {cause: timeout, status: 124}
#: cpu_share: 0.5
#: modes: [root, rootless]
#: seconds: 5
import os

for _ in range(7):
    if os.fork() == 0:
        break
while True:
    pass
