import tempfile
with tempfile.TemporaryDirectory() as d:
    with open(d + "/x", "w") as f:
        f.write("y")
