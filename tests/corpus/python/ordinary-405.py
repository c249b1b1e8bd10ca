import re

VERSION = re.compile(r"^[0-9]+(\.[0-9]+)*$")
WORDS = re.compile(r"\w+(?: \w+)*")


def is_version(text):
    return bool(VERSION.match(text))
