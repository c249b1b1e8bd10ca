from tempfile import TemporaryDirectory
from pathlib import Path
import shutil
with TemporaryDirectory() as td:
    p = Path(td) / "a" / "b"
    p.mkdir(parents=True)
    (p / "f.txt").write_text("x")
    shutil.copytree(td, "backup", dirs_exist_ok=True)
shutil.rmtree("backup", ignore_errors=True)
