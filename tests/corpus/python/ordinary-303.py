import time
from watchdog.observers import Observer
from watchdog.events import FileSystemEventHandler
class H(FileSystemEventHandler):
    def on_modified(self, e): print("changed", e.src_path)
o = Observer(); o.schedule(H(), ".", recursive=True); o.start()
try:
    while True: time.sleep(1)
finally: o.stop(); o.join()
