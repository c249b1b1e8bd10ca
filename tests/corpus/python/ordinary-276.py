text = open("book.txt").read().lower()
words = [w.strip(".,;") for w in text.split()]
freq = {}
for w in words:
    freq[w] = freq.get(w, 0) + 1
for w, n in sorted(freq.items(), key=lambda kv: -kv[1])[:20]:
    print(f"{w:<15}{n}")
