import numpy as np
rng = np.random.default_rng(0)
a = rng.normal(size=(100, 3))
u, s, vt = np.linalg.svd(a - a.mean(0), full_matrices=False)
np.save("out.npy", u * s)
b = np.load("out.npy")
print(np.allclose(b, u * s))
