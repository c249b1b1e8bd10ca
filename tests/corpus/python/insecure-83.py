from flask import Flask, redirect, request, session

app = Flask(__name__)


@app.post("/login")
def login():
    session["user"] = request.form["user"]
    return redirect(request.form.get("next") or "/")
