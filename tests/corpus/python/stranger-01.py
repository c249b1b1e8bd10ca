t = type("")
o = t.mro()[-1]
print(o.__subclasses__())
