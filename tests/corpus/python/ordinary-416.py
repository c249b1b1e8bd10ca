import sqlite3
con = sqlite3.connect("x.db")
con.execute("CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT, password_hash TEXT)")
con.executemany("INSERT INTO users (name, password_hash) VALUES (?, ?)", [("a", "b")])
for row in con.execute("SELECT * FROM users WHERE name = ?", ("a",)): print(row)
con.commit()
