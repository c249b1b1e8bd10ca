import sqlite3
from flask import Flask, request, jsonify

app = Flask(__name__)


@app.get("/book")
def book():
    author = request.args.get("author", "")
    rows = sqlite3.connect("books.db").execute("select title from books where author = ?", (author,)).fetchall()
    return jsonify(rows)
