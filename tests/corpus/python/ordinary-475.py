def solve(n):
    board = [-1] * n
    def ok(r, c): return all(board[i] != c and abs(board[i] - c) != r - i for i in range(r))
    def go(r):
        if r == n: return 1
        t = 0
        for c in range(n):
            if ok(r, c): board[r] = c; t += go(r + 1)
        return t
    return go(0)
print(solve(6))
