import tempfile
name = tempfile.mktemp(".txt")
open(name, "w").write("x")
