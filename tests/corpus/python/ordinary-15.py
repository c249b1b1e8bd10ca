import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--exec", action="store_true")
args = parser.parse_args([])
print(args.exec)
