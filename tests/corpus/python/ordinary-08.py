import sqlite3
db = sqlite3.connect(":memory:")
db.execute("create table t (x)")
db.executemany("insert into t values (?)", [(1,), (2,)])
print(db.execute("select count(*) from t").fetchone())
