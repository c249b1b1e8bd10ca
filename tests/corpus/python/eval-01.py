print(eval(input('expression: ')))
