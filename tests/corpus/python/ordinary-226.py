import argparse
ns = argparse.Namespace(a=1, b=2)
for k in ("a", "b", "c"):
    print(k, getattr(ns, k, None))
    setattr(ns, k, 3)
print(vars(ns))
