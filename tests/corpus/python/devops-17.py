import shutil, pathlib
out = pathlib.Path("build")
if out.exists():
    shutil.rmtree(out)
