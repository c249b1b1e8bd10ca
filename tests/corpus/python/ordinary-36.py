import heapq
h = []
for x in (3, 1, 2):
    heapq.heappush(h, x)
print([heapq.heappop(h) for _ in range(3)])
