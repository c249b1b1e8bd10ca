import sqlite3
c = sqlite3.connect("x.db")
u = input()
q = "UPDATE t SET a = 1 WHERE b = '{}'".format(u)
c.execute(q)
