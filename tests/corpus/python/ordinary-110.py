from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(4) as ex:
    fs = [ex.submit(pow, 2, i) for i in range(5)]
    print(sorted(f.result() for f in as_completed(fs)))
