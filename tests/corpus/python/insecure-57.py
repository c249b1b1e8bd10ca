import requests
from flask import request
requests.get(request.args["url"])
