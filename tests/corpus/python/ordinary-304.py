import sqlite3, pathlib
con = sqlite3.connect("app.db")
done = {r[0] for r in con.execute("select name from migrations")}
for p in sorted(pathlib.Path("migrations").glob("*.sql")):
    if p.name not in done:
        con.executescript(p.read_text())
        con.execute("insert into migrations values (?)", (p.name,))
con.commit()
