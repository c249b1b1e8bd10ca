import logging

log = logging.getLogger(__name__)


def login(user, password):
    log.debug("trying %s with %s", user, password)
