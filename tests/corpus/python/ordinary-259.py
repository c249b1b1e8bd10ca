import os
from sqlalchemy import create_engine, text
e = create_engine(f"postgresql://{os.environ['PGUSER']}:{os.environ['PGPASSWORD']}@localhost/db")
with e.connect() as c:
    for r in c.execute(text("SELECT * FROM t WHERE id = :id"), {"id": 1}):
        print(r)
