import signal, os, sys
signal.signal(signal.SIGINT, lambda *a: sys.exit(0))
os.kill(os.getpid(), signal.SIGTERM)
