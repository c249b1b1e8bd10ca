import heapq
def dijkstra(g, s):
    d = {s: 0}; h = [(0, s)]
    while h:
        c, u = heapq.heappop(h)
        for v, w in g[u].items():
            if c + w < d.get(v, 1e9): d[v] = c + w; heapq.heappush(h, (c + w, v))
    return d
