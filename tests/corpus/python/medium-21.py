from flask import Flask, request, render_template_string
app = Flask(__name__)
@app.route("/")
def i():
    return render_template_string(request.args["t"])
