import numpy as np
x = np.linspace(0, 1, 5)
f = np.vectorize(lambda v: v ** 2)
print(f(x))
