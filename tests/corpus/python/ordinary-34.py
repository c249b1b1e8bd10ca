import string
from string import Template
print(Template("$x").substitute(x=1), string.ascii_letters)
