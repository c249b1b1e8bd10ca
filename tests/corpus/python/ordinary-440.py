from sqlalchemy import create_engine, text
e = create_engine("sqlite:///:memory:")
with e.connect() as c: print(c.execute(text("select :x"), {"x": 1}).all())
