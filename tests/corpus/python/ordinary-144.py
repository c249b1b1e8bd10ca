import numpy as np
rng = np.random.default_rng(42)
x = rng.normal(size=(100, 3))
u, s, vt = np.linalg.svd(x)
print(s)
np.save("x.npy", x)
y = np.load("x.npy")
