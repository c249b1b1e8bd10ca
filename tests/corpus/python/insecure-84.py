from flask import Flask, request

app = Flask(__name__)


@app.route("/search")
def search():
    words = request.args.get("q", "")
    page = "<h1>Results</h1>"
    page += f"<p>Nothing found for {words}</p>"
    return page
