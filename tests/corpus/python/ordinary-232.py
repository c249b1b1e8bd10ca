from multiprocessing import Pool
def f(x): return x ** 2
if __name__ == "__main__":
    with Pool(4) as p:
        print(sum(p.imap_unordered(f, range(1000), chunksize=50)))
