import sqlite3
from contextlib import closing

SCHEMA = """
CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT, password_hash TEXT);
DROP TABLE IF EXISTS tmp;
"""
with closing(sqlite3.connect(":memory:")) as db:
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO users(name, password_hash) VALUES (?, ?)", [("a", "x"), ("b", "y")])
    cols = ", ".join(["id", "name"])
    for row in db.execute("SELECT id, name FROM users WHERE name = ?", ("a",)):
        print(row)
    n = 3
    db.execute("SELECT * FROM users WHERE id IN (%s)" % ",".join("?" * n), (1, 2, 3))
