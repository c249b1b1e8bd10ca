#!/usr/bin/env python3
"""Rename files; use --dry-run to only print."""
import argparse
import logging
import os

log = logging.getLogger(__name__)

def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("dir")
    p.add_argument("--pattern", default="*.txt")
    p.add_argument("--dry-run", action="store_true")
    p.add_argument("--password", help="password for the archive")
    p.add_argument("--token", default=os.environ.get("API_TOKEN", ""))
    a = p.parse_args(argv)
    logging.basicConfig(level=logging.INFO)
    for n in os.listdir(a.dir):
        new = n.lower().replace(" ", "_")
        if new != n:
            log.info("%s -> %s", n, new)
            if not a.dry_run:
                os.rename(os.path.join(a.dir, n), os.path.join(a.dir, new))

if __name__ == "__main__":
    raise SystemExit(main())
