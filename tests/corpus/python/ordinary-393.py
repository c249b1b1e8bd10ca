import random
import secrets
import string


def generate_password(length):
    return "".join(secrets.choice(string.ascii_letters) for _ in range(length))


def roll(dice):
    return [random.randint(1, 6) for _ in range(dice)]
