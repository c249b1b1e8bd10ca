import re
import gzip
from pathlib import Path

LINE = re.compile(r'(?P<ip>\S+) \S+ \S+ \[(?P<t>[^\]]+)\] "(?P<req>[^"]*)" (?P<st>\d{3})')
bad = re.compile(r"eval\(|exec\(|os\.system")

def parse(p: Path):
    op = gzip.open if p.suffix == ".gz" else open
    with op(p, "rt") as f:
        for line in f:
            m = LINE.match(line)
            if m and not bad.search(m["req"]):
                yield m.groupdict()

for p in sorted(Path("logs").glob("access.log*")):
    print(p, sum(1 for _ in parse(p)))
