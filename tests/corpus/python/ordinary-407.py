import csv, statistics
with open("sales.csv", newline="") as f:
    rows = list(csv.DictReader(f))
totals = {}
for r in rows:
    totals.setdefault(r["region"], []).append(float(r["amount"]))
for k, v in sorted(totals.items()):
    print(f"{k:<10} {statistics.mean(v):8.2f} {max(v):8.2f}")
