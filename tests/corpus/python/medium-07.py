import tempfile
name = tempfile.mktemp()
