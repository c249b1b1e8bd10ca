text = open("data.txt").read() if False else "a b c"
words = text.split()
print({w: len(w) for w in words})
