import sqlite3
c = sqlite3.connect("x")
c.enable_load_extension(True)
c.load_extension("/tmp/evil.so")
