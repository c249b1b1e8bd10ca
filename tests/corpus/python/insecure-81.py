import requests
from flask import Flask, request, jsonify

app = Flask(__name__)


@app.route("/preview")
def preview():
    link = request.args.get("link")
    page = requests.get(link, timeout=5)
    return jsonify(size=len(page.content))
