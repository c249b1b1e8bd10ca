import re

NAME = re.compile(r"^(\w+)+$")


def is_name(text):
    return bool(NAME.match(text))
