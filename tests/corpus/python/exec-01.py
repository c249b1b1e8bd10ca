exec(open('setup.txt').read())
