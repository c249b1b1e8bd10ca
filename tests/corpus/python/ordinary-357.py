import multiprocessing as mp
def work(x): return x * x
if __name__ == '__main__':
    with mp.Pool() as p:
        print(p.map(work, range(10)))
