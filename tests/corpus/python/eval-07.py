total = sum(eval(x) for x in '1,2,3'.split(','))
