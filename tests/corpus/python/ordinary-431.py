import time, threading, queue
q = queue.Queue()
def work():
    while (x := q.get()) is not None: print(x); q.task_done()
ts = [threading.Thread(target=work, daemon=True) for _ in range(4)]
for t in ts: t.start()
for i in range(10): q.put(i)
q.join()
