from pathlib import Path
for p in Path(".").glob("*.txt"):
    print(p.name, p.stat().st_size)
