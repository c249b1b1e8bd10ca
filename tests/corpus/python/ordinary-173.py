import sympy as sp
x = sp.symbols("x")
print(sp.integrate(sp.sin(x), x), sp.sympify("x**2 + 1"))
