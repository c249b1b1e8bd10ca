import re
pattern = re.compile(r"eval\((.*)\)")
print(pattern.findall("eval(x)"))
