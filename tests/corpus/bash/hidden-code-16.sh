python3 -c 'eval(input())'
