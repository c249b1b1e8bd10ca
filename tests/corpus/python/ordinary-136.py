import locale, re, sre_constants
r = re.compile; print(r("x"), locale.getlocale())
