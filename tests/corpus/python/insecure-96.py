from flask import Flask, make_response, request

app = Flask(__name__)


@app.get("/lang")
def lang():
    answer = make_response("ok")
    answer.headers["X-Language"] = request.args["lang"]
    return answer
