from flask import Flask, make_response

app = Flask(__name__)


@app.post("/enter")
def enter():
    answer = make_response("welcome")
    answer.set_cookie("session_id", new_session())
    return answer
