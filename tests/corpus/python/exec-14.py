compile(open('x').read(), 'x', 'exec')
