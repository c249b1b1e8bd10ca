from flask import redirect, request
redirect(request.args["next"])
