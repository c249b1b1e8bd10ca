import re
from flask import Flask, request

app = Flask(__name__)


@app.get("/grep")
def grep():
    pattern = re.compile(request.args["pattern"])
    return {"lines": [line for line in open("log.txt") if pattern.search(line)]}
