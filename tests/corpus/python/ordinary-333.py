import csv, statistics
with open('data.csv', newline='') as f:
    rows = list(csv.DictReader(f))
print(statistics.mean(float(r['price']) for r in rows))
