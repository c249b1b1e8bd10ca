import datetime as dt
print(dt.datetime.now().isoformat())
