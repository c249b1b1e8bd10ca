import functools, logging, random, time
def retry(n=3, exc=Exception):
    def deco(fn):
        @functools.wraps(fn)
        def run(*a, **k):
            for i in range(n):
                try: return fn(*a, **k)
                except exc:
                    logging.exception("attempt %d", i)
                    time.sleep(random.random())
            raise RuntimeError("gave up")
        return run
    return deco
