from pathlib import Path
import shutil
for p in Path(".").rglob("__pycache__"):
    shutil.rmtree(p)
for p in Path(".").rglob("*.pyc"):
    p.unlink(missing_ok=True)
