#!/usr/bin/env python3
"""Load orders from CSV into SQLite and print a report."""
import argparse, csv, sqlite3, sys
from datetime import date, timedelta
from pathlib import Path

def rows(path):
    with path.open(newline="", encoding="utf-8") as fh:
        yield from csv.DictReader(fh)

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("csv", type=Path)
    ap.add_argument("--db", default="orders.db")
    args = ap.parse_args()
    con = sqlite3.connect(args.db)
    con.execute("create table if not exists o (id integer primary key, day text, total real)")
    with con:
        con.executemany("insert or replace into o values (:id, :day, :total)", rows(args.csv))
    since = date.today() - timedelta(days=30)
    for day, s in con.execute("select day, sum(total) from o where day >= ? group by day", (since.isoformat(),)):
        print(f"{day} {s:10.2f}")
    return 0

sys.exit(main())
