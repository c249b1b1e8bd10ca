import ldap3
from flask import Flask, request

app = Flask(__name__)


@app.get("/person")
def person():
    uid = request.args["uid"]
    con = ldap3.Connection(ldap3.Server("ldaps://directory.test"), auto_bind=True)
    con.search("ou=people,dc=test", "(uid=" + uid + ")")
    return {"found": len(con.entries)}
