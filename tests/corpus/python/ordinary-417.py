import logging, logging.handlers
h = logging.handlers.RotatingFileHandler("app.log", maxBytes=10**6, backupCount=5)
h.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
logging.getLogger().addHandler(h)
logging.warning("password is too short")
