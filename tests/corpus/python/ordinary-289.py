from collections import OrderedDict
class LRU:
    def __init__(self, n): self.n, self.d = n, OrderedDict()
    def get(self, k):
        if k not in self.d: return None
        self.d.move_to_end(k)
        return self.d[k]
    def put(self, k, v):
        self.d[k] = v
        self.d.move_to_end(k)
        if len(self.d) > self.n: self.d.popitem(last=False)
cache = LRU(2)
cache_key = "user:42"
cache.put(cache_key, 1)
