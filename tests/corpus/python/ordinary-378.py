import os
from flask import Flask, abort, request
from werkzeug.utils import secure_filename

app = Flask(__name__)
NOTES = "/srv/notes"


@app.get("/note")
def note():
    name = secure_filename(request.args["name"])
    if not name:
        abort(400)
    with open(os.path.join(NOTES, name), encoding="utf-8") as f:
        return {"text": f.read()}
