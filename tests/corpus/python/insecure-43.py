from flask import make_response
def f():
    r = make_response("x")
    r.set_cookie("session", "1", secure=False, httponly=False)
    return r
