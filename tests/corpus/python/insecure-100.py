import random
import string


def generate_password(length):
    letters = []
    for _ in range(length):
        letters.append(random.choice(string.ascii_letters))
    return "".join(letters)
