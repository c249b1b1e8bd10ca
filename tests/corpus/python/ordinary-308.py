from heapq import heappush, heappop
def dijkstra(g, s):
    d = {s: 0}; q = [(0, s)]
    while q:
        w, u = heappop(q)
        for v, c in g[u].items():
            if w + c < d.get(v, 1e9):
                d[v] = w + c; heappush(q, (d[v], v))
    return d
print(dijkstra({"a": {"b": 1}, "b": {}}, "a"))
