conn = "postgresql://" + user + ":" + quote(password) + "@" + host + "/app"
conn2 = "postgresql://%s:%s@%s/app" % (user, password, host)
