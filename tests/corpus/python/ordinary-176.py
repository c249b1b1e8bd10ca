import tempfile, pathlib
with tempfile.TemporaryDirectory() as d:
    (pathlib.Path(d) / "x").write_text("hi")
