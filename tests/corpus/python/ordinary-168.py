import sqlite3
con = sqlite3.connect(":memory:")
con.execute("create table t (id integer primary key, name text)")
con.executemany("insert into t (name) values (?)", [("a",), ("b",)])
for row in con.execute("select * from t where name = ?", ("a",)):
    print(row)
con.commit()
