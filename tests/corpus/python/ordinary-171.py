def solve(b):
    for i in range(81):
        if b[i] == 0:
            for v in range(1, 10):
                if all(b[j] != v for j in range(81) if j//9 == i//9 or j%9 == i%9):
                    b[i] = v
                    if solve(b): return True
                    b[i] = 0
            return False
    return True
