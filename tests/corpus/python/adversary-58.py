import string
f = string.Formatter()
print(f.format("{0.__init__.__globals__}", f))
