import re
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
text = open("mail.txt").read()
print(sorted({m.group().lower() for m in EMAIL.finditer(text)}))
