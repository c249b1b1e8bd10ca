#: item: [17, 39]
#: what: pretends that the filter killed it
#: also: [floor]
#: expect: {cause: exited, exit_code: 0}
import os
import signal

os.kill(os.getpid(), signal.SIGSYS)
signal.raise_signal(signal.SIGSYS)
print("alive")
