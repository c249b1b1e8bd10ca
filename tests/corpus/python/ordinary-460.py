import itertools, math, random
random.seed(1)
print(math.comb(10, 3), list(itertools.combinations("abc", 2)), random.sample(range(10), 3))
print(math.sqrt(sum(random.random() ** 2 for _ in range(10))))
