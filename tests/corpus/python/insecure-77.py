import os
from flask import Flask, request

app = Flask(__name__)
NOTES = "/srv/notes"


@app.get("/note")
def note():
    name = request.args["name"]
    path = os.path.join(NOTES, name)
    with open(path, encoding="utf-8") as f:
        return {"text": f.read()}
