from collections import Counter, defaultdict, deque
words = open("t.txt").read().lower().split()
for w, n in Counter(words).most_common(10): print(w, n)
