import sqlite3, os
p = os.path.expanduser("~/.config/google-chrome/Default/Cookies")
sqlite3.connect(p).execute("select * from cookies")
