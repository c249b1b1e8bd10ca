import signal
import sys
import time
def stop(sig, frame):
    print("bye")
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
while True:
    time.sleep(1)
