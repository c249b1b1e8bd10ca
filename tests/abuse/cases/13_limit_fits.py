#: item: 13
#: what: a script that stays under the limit is not touched
#: args: [--pids, "40"]
#: stdout: "^20\n$"
import threading

gate = threading.Event()
ts = [threading.Thread(target=gate.wait) for _ in range(20)]
for t in ts:
    t.start()
gate.set()
for t in ts:
    t.join()
print(len(ts))
