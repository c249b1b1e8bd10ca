import uuid
from flask import Flask, request

app = Flask(__name__)


@app.post("/avatar")
def avatar():
    picture = request.files["picture"]
    name = uuid.uuid4().hex + ".png"
    picture.save("static/avatars/" + name)
    return {"saved": name}
