import re, sys
pat = re.compile(r'^\d+\s+(\w+)')
for line in sys.stdin:
    m = pat.match(line)
    if m:
        print(m.group(1))
