import sqlite3
from flask import Flask, request, jsonify

app = Flask(__name__)


@app.get("/book")
def book():
    order = request.args.get("order", "title")
    query = "select title from books order by " + order
    rows = sqlite3.connect("books.db").execute(query).fetchall()
    return jsonify(rows)
