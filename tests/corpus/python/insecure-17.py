def find(cur, name):
    cur.execute("select * from users where name = '" + name + "'")
