import threading, queue
q = queue.Queue()
def w():
    while (x := q.get()) is not None:
        print(x)
t = threading.Thread(target=w, daemon=True); t.start()
q.put(1); q.put(None); t.join()
