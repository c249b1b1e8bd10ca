import logging

log = logging.getLogger(__name__)


def login(user, password):
    log.debug("trying %s with a password of %d letters", user, len(password))
    log.info("password of %s changed", user)
