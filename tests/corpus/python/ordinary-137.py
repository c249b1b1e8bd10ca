import logging, logging.config
logging.config.dictConfig({"version": 1, "handlers": {"c": {"class": "logging.StreamHandler"}}, "root": {"handlers": ["c"]}})
logging.getLogger(__name__).info("hi")
