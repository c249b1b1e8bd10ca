import sympy as sp
x = sp.symbols("x")
print(sp.diff(sp.sin(x) ** 2, x), sp.solve(x**2 - 2))
