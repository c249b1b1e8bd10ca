import sqlite3
con = sqlite3.connect('x.db')
con.execute('create table if not exists t (a int, b text)')
con.executemany('insert into t values (?, ?)', rows)
con.commit()
