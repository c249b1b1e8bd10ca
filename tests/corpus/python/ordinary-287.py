import random, statistics
random.seed(42)
def pi(n): return 4 * sum(random.random() ** 2 + random.random() ** 2 < 1 for _ in range(n)) / n
r = [pi(10_000) for _ in range(20)]
print(statistics.mean(r), statistics.stdev(r))
