import time
start = time.perf_counter()
total = sum(i * i for i in range(1000))
print(total, time.perf_counter() - start)
