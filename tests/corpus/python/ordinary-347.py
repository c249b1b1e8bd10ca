import logging
log = logging.getLogger(__name__)
log.info('token refreshed: %s', bool(token))
log.error("password: must be at least 8 characters")
