from flask import make_response, request
make_response("<h1>" + request.args["q"] + "</h1>")
