from sqlalchemy import create_engine, text
e = create_engine("sqlite://")
with e.connect() as c:
    c.execute(text("select 1"))
    r = c.exec_driver_sql("select 2")
