import shelve
db = shelve.open('x')
