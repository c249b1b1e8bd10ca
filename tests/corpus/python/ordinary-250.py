import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
x = range(10)
plt.plot(x, [i ** 2 for i in x])
plt.savefig("p.png")
