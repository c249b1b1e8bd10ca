import threading
import queue
q = queue.Queue()
def worker():
    while (n := q.get()) is not None:
        print(n * n)
        q.task_done()
ts = [threading.Thread(target=worker, daemon=True) for _ in range(4)]
for t in ts: t.start()
for i in range(10): q.put(i)
q.join()
