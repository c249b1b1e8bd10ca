import scipy.optimize as so
print(so.minimize(lambda x: (x - 1) ** 2, 0.0).x)
