import random
def hangman(words):
    secret = random.choice(words)
    seen = set()
    lives = 6
    while lives and not set(secret) <= seen:
        g = input("letter: ").strip().lower()
        if g not in secret:
            lives -= 1
        seen.add(g)
    print("won" if lives else f"lost, it was {secret}")
hangman(["python", "token", "secret"])
