import numpy as np
a = np.random.default_rng(0).normal(size=(100, 3))
u, s, vt = np.linalg.svd(a - a.mean(0), full_matrices=False)
print(s**2 / (s**2).sum())
