import csv, io
rows = list(csv.reader(io.StringIO("a,b\n1,2\n")))
print(rows)
