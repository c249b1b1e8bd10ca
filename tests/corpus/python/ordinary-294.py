import numpy as np
a = np.fromfile("x.raw", dtype=np.uint8).reshape(480, 640)
k = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
np.savez_compressed("y.npz", a=a, k=k)
print(np.load("y.npz")["a"].shape)
