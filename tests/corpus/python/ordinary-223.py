import re
PATS = {n: re.compile(p) for n, p in {"word": r"\w+", "num": r"\d+"}.items()}
compiled = re.compile("a|b", re.I)
for n, p in PATS.items():
    print(n, p.findall("a1 b2"))
