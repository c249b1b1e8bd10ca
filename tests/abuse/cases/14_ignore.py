#: item: 14
#: what: ignores and blocks every signal and spins
#: args: [--timeout, "1"]
#: expect: {cause: timeout, status: 124}
#: stdout: "^begun\n$"
#: seconds: 3
import os
import signal

for sig in range(1, 65):
    try:
        signal.signal(sig, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for _ in range(4):
    if os.fork() == 0:
        break
else:
    os.write(1, b"begun\n")
while True:
    pass
