from flask import Flask, render_template, request
from markupsafe import escape

app = Flask(__name__)


@app.route("/search")
def search():
    words = request.args.get("q", "")
    return render_template("results.html", words=words)


@app.route("/plain")
def plain():
    return f"<p>Nothing found for {escape(request.args.get('q', ''))}</p>"
