import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt, numpy as np
x = np.linspace(0, 6.28, 100)
plt.plot(x, np.sin(x)); plt.savefig("sin.png")
