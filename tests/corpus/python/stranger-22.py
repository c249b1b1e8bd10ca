import logging.config
logging.config.dictConfig({'version': 1, 'formatters': {'x': {'()': 'os.system', 'command': 'id'}}})
