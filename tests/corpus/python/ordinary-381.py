import requests
from flask import Flask, request, jsonify

app = Flask(__name__)
API = "https://api.weather.test/v1"


@app.route("/weather/<city>")
def weather(city):
    answer = requests.get(f"{API}/now/{city}", params={"unit": request.args.get("unit", "c")}, timeout=5)
    return jsonify(answer.json())
