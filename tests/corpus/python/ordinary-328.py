def run(cur, table, cols):
    cur.execute("CREATE TABLE t (id int)")
    cur.execute("INSERT INTO t VALUES (%s)", (1,))
    cur.copy_from(open("x"), "t")
