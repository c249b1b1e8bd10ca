import signal, sys
def stop(*_): sys.exit(0)
signal.signal(signal.SIGTERM, stop)
