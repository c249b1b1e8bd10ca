import threading, queue
q = queue.Queue()
t = threading.Thread(target=q.put, args=(1,))
t.start()
t.join()
print(q.get())
