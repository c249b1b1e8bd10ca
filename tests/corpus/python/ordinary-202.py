import csv
import sys
from collections import Counter

with open(sys.argv[1], newline="") as fh:
    rows = list(csv.DictReader(fh))
c = Counter(r["country"] for r in rows)
w = csv.writer(sys.stdout)
for k, v in c.most_common():
    w.writerow([k, v])
