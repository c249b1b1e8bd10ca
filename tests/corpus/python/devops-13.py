import sqlite3
db = sqlite3.connect("x")
n = 3
db.execute("SELECT * FROM t WHERE id IN (%s)" % ",".join("?" * n), (1, 2, 3))
marks = ", ".join("?" for _ in range(n))
db.execute(f"INSERT INTO t VALUES ({marks})", (1, 2, 3))
