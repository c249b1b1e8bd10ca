from collections import Counter
print(Counter("evaluate the executive system").most_common(3))
