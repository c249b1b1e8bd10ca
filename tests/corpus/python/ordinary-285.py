import gzip, shutil
from pathlib import Path
for p in Path("logs").glob("*.log"):
    if p.stat().st_size > 1_000_000:
        with p.open("rb") as a, gzip.open(f"{p}.gz", "wb") as b:
            shutil.copyfileobj(a, b)
        p.write_text("")
