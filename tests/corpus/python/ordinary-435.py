import configparser
c = configparser.ConfigParser()
c["db"] = {"host": "localhost", "user": "app", "password": ""}
with open("x.ini", "w") as f: c.write(f)
