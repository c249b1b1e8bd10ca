from pathlib import Path
Path("out").chmod(0o777)
