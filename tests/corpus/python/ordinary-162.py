import re
PAT = re.compile(r"(\d+)-(\w+)")
for m in PAT.finditer("12-ab 3-c"):
    print(m.group(1), m[2])
