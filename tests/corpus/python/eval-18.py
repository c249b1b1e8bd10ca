print(f'{eval("1+1")}')
