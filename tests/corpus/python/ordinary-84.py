import argparse
p = argparse.ArgumentParser()
p.add_argument("--token", help="API token", default=None)
p.add_argument("--password-file", type=argparse.FileType("r"))
a = p.parse_args()
print(vars(a))
