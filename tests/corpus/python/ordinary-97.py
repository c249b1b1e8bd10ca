import csv
from collections import defaultdict
totals = defaultdict(float)
with open("sales.csv", newline="") as f:
    for row in csv.DictReader(f):
        totals[row["region"]] += float(row["amount"])
for k, v in sorted(totals.items()):
    print(f"{k:20} {v:10.2f}")
