import shutil, sys
from pathlib import Path
for name in ("build", "dist", ".pytest_cache"):
    shutil.rmtree(name, ignore_errors=True)
for p in Path("src").rglob("*.egg-info"):
    shutil.rmtree(p)
