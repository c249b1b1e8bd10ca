results = list(map(eval, ['1', '2', '3']))
