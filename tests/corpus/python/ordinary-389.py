import re
from flask import Flask, request

app = Flask(__name__)


@app.get("/grep")
def grep():
    pattern = re.compile(re.escape(request.args["text"]))
    return {"lines": [line for line in open("log.txt") if pattern.search(line)]}
