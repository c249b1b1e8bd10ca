from flask import Flask, jsonify, render_template
app = Flask(__name__)
app.config["SECRET_KEY"] = None
@app.get("/")
def i(): return jsonify(ok=True)
