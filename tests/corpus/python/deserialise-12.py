import numpy as np
np.load('x.npy', allow_pickle=True)
