from flask import Flask, request, jsonify, abort
app = Flask(__name__)
app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
@app.get("/items/<int:i>")
def item(i): return jsonify(id=i)
@app.post("/items")
def add():
    d = request.get_json()
    if "name" not in d: abort(400)
    return jsonify(d), 201
