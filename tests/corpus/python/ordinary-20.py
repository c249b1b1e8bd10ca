import random
random.seed(7)
print([random.randint(1, 6) for _ in range(10)])
