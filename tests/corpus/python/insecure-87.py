import traceback
from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/total")
def total():
    try:
        return jsonify(total=add_up())
    except Exception:
        return traceback.format_exc(), 500
