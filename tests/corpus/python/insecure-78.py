from flask import Flask, request

app = Flask(__name__)


@app.post("/avatar")
def avatar():
    picture = request.files["picture"]
    picture.save("static/avatars/" + picture.filename)
    return {"saved": True}
