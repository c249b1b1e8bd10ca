import MySQLdb

db = MySQLdb.connect(host="db.test", user="root", passwd="")
