import datetime as dt, zoneinfo
now = dt.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
print(now.isoformat(), (now + dt.timedelta(days=3)).strftime("%d.%m.%Y"))
