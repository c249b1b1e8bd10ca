from concurrent.futures import ProcessPoolExecutor
def sq(n): return n * n
if __name__ == "__main__":
    with ProcessPoolExecutor() as e: print(list(e.map(sq, range(10))))
