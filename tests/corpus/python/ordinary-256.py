class Matrix:
    def __init__(self, rows): self.rows = rows
    def __matmul__(self, o):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __repr__(self): return f"{self.__class__.__name__}({self.rows!r})"
print(Matrix([[1, 2]]) @ Matrix([[3], [4]]))
