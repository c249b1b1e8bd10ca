def text(s): return s
print(text("select one " + "of these"))
