import sys, yaml
def merge(a, b):
    for k, v in b.items():
        if isinstance(v, dict) and isinstance(a.get(k), dict):
            merge(a[k], v)
        else:
            a[k] = v
    return a
base, over = (yaml.safe_load(open(p)) for p in sys.argv[1:3])
yaml.safe_dump(merge(base, over), sys.stdout)
