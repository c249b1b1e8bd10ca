(lambda f, x: f(x))(eval, '40 + 2')
