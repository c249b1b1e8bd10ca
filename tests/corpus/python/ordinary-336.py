import argparse, pathlib
ap = argparse.ArgumentParser()
ap.add_argument('path', type=pathlib.Path)
ap.add_argument('--token', default=None, help='API token')
ns = ap.parse_args()
print(getattr(ns, 'path'))
