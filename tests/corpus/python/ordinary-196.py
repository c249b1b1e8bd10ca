import sys, logging
def hook(t, v, tb):
    logging.critical("uncaught", exc_info=(t, v, tb))
sys.excepthook = hook
