import os
import psycopg2
conn = psycopg2.connect(host="localhost", dbname="x", user="u", password=os.getenv("PGPASSWORD"))
cur = conn.cursor()
cur.execute("SELECT id FROM t WHERE name = %s", ("x",))
table = "t"
cur.execute("SELECT count(*) FROM t")
print(cur.fetchall())
