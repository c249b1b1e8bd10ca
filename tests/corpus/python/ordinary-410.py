import argparse, sys
def main(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--password", help="password of the database", default=None)
    p.add_argument("--token", metavar="TOKEN", required=True)
    p.add_argument("-v", "--verbose", action="store_true")
    a = p.parse_args(argv)
    print(a)
    return 0
if __name__ == "__main__":
    sys.exit(main())
