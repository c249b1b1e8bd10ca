import statistics
print(statistics.mean([1, 2, 3]), statistics.stdev([1, 2, 3]))
