from flask import Flask, redirect, request, session, url_for

app = Flask(__name__)


@app.post("/login")
def login():
    session["user"] = request.form["user"]
    return redirect(url_for("profile", user=request.form["user"]))
